// The exact transition matrix of the discrete Langevin proposal, in double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/diagnose/state_table.hpp"
#include "saltus/sampler/dlp.hpp"
#include "sampler/product_matrix.hpp"

namespace saltus {
void Dlp::log_probabilities(const Domain& domain, const Symbol* x, const double* score,
                            std::span<double> out) const {
  std::size_t begin = 0;
  for (int i = 0; i < domain.dim(); ++i) {
    const int levels = domain.levels(i);
    const std::span a = out.subspan(begin, static_cast<std::size_t>(levels));
    const double penalty = penalty_[penalty_.size() == 1 ? 0 : static_cast<std::size_t>(i)];
    for (int k = 0; k < levels; ++k) {
      const double step = k - x[i];
      double& logit = a[static_cast<std::size_t>(k)];
      if (domain.kind() == Domain::Kind::categorical) {
        const double* of_level = score + domain.score_begin(i);
        logit = (of_level[k] - of_level[x[i]]) / 2 - (k == x[i] ? 0.0 : penalty);
      } else {
        logit = score[i] * domain.spacing() * step / 2 - penalty * step * step;
        if (options_.window && std::abs(step) > options_.window) logit = -INFINITY;
      }
    }
    const double norm = log_sum_exp(a);
    for (double& v : a) v -= norm;
    begin += a.size();
  }
}

void Dlp::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const auto law = [&](std::size_t s, std::span<double> out) {
    log_probabilities(table.domain(), table.state(s), table.score(s), out);
  };
  product_matrix(table, options_.adjust, law, matrix, acceptance);
}

}  // namespace saltus
