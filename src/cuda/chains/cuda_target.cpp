#include "saltus/cuda/cuda_target.hpp"

#include <algorithm>
#include <mutex>

#include "cuda/chains/chains.hpp"

namespace saltus::cuda {
namespace {

// Rows that are evaluated together.
constexpr int kMostRows = 1024;

}  // namespace

struct CudaTarget::Staging {
  std::shared_ptr<SharedEnergy> energy;
  TwoLevels levels;
  std::mutex mutex;
  DeviceArray<Symbol> symbols;
  DeviceArray<float> values, score;
  DeviceArray<double> logp;
  DeviceArray<std::uint64_t> at{2};  // seed and step
};

CudaTarget::CudaTarget(std::string name, const Domain& domain, std::vector<int> shape,
                       std::shared_ptr<DeviceEnergy> energy)
    : name_(std::move(name)),
      domain_(domain),
      shape_(std::move(shape)),
      staging_(std::make_unique<Staging>()) {
  staging_->levels = two_levels(domain);
  staging_->energy = std::make_shared<SharedEnergy>(std::move(energy));
}

CudaTarget::~CudaTarget() = default;

bool CudaTarget::stochastic() const {
  return staging_->energy->stochastic();
}

void CudaTarget::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                          Rows<float> score) const {
  const std::lock_guard held(staging_->mutex);
  const std::uint64_t numbers[2] = {at.seed, at.step};
  staging_->at.put(staging_->energy->stream().get(), numbers);
  for (int first = 0; first < x.rows; first += kMostRows) {
    const int rows = std::min(kMostRows, x.rows - first);
    Rows<float> some;
    if (score) some = {score[first], rows, score.cols, score.stride};
    evaluate_some({x[first], rows, x.cols, x.stride}, logp ? logp + first : nullptr, some);
  }
}

void CudaTarget::evaluate_some(Rows<const Symbol> x, double* logp, Rows<float> score) const {
  Staging& s = *staging_;
  const auto rows = static_cast<std::size_t>(x.rows), dim = static_cast<std::size_t>(x.cols);
  s.symbols.grow(rows * dim), s.values.grow(rows * dim), s.score.grow(rows * dim);
  s.logp.grow(rows);
  s.energy->prepare(x.rows);
  const cudaStream_t stream = s.energy->stream().get();
  s.symbols.put_rows(stream, x);
  {
    // Nothing of this may get into a graph that another thread captures on the stream.
    const auto held = s.energy->lock();
    levels_to_values(stream, s.levels, x.rows, s.symbols.data(), s.values.data());
    s.energy->evaluate({s.at.data(), s.at.data() + 1}, s.values.data(), x.rows,
                       logp ? s.logp.data() : nullptr, score ? s.score.data() : nullptr);
  }
  if (logp) s.logp.get(stream, {logp, rows});
  if (score) s.score.get_rows(stream, score);
  s.energy->stream().wait();
}

std::unique_ptr<DeviceChains> CudaTarget::make_chains(int chains, std::uint64_t seed) const {
  return std::make_unique<CudaChains>(staging_->energy, domain_, chains, seed);
}

}  // namespace saltus::cuda
