#include "cuda/rbm_on_cuda.hpp"

#include <vector>

#include "cuda/cuda_target.hpp"
#include "cuda/rbm_energy.hpp"

namespace saltus::cuda {

// The biases are the log-odds at zeros; a weight is what one unit adds to the log-odds of another.
std::unique_ptr<Target> rbm_on_cuda(const Rbm& rbm) {
  const auto visible = static_cast<std::size_t>(rbm.domain().dim());
  const auto hidden = static_cast<std::size_t>(rbm.hidden());
  std::vector<double> weights(visible * hidden), b(visible), c(hidden), with(hidden);
  std::vector<Symbol> x(visible), none(hidden);
  rbm.hidden_log_odds_exact(x.data(), c.data());
  rbm.visible_log_odds_exact(none.data(), b.data());
  for (std::size_t i = 0; i < visible; ++i) {
    x[i] = 1;
    rbm.hidden_log_odds_exact(x.data(), with.data());
    x[i] = 0;
    for (std::size_t h = 0; h < hidden; ++h) weights[h * visible + i] = with[h] - c[h];
  }
  return std::make_unique<CudaTarget>(rbm.name(), rbm.domain(), rbm.shape(),
                                      std::make_shared<RbmEnergy>(weights, b, c));
}

}  // namespace saltus::cuda
