// The exact transition matrix of the discrete Langevin proposal, in double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/diagnose/state_table.hpp"
#include "saltus/sampler/dlp.hpp"

namespace saltus {
namespace {

double log_sum_exp(std::span<const double> a) {
  const double top = *std::max_element(a.begin(), a.end());
  double sum = 0;
  for (double v : a) sum += std::exp(v - top);
  return top + std::log(sum);
}

std::size_t total_levels(const Domain& domain) {
  std::size_t n = 0;
  for (int i = 0; i < domain.dim(); ++i) n += static_cast<std::size_t>(domain.levels(i));
  return n;
}

double log_q(const Domain& domain, std::span<const double> log_probability, const Symbol* to) {
  double sum = 0;
  std::size_t begin = 0;
  for (int i = 0; i < domain.dim(); ++i) {
    sum += log_probability[begin + to[i]];
    begin += static_cast<std::size_t>(domain.levels(i));
  }
  return sum;
}

}  // namespace

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
  const Domain& domain = table.domain();
  const std::size_t states = table.size(), width = total_levels(domain);
  std::vector<double> law(states * width);
  const auto law_at = [&](std::size_t s) { return std::span(law).subspan(s * width, width); };
  for (std::size_t s = 0; s < states; ++s) {
    log_probabilities(domain, table.state(s), table.score(s), law_at(s));
  }
  for (std::size_t s = 0; s < states; ++s) {
    double* row = matrix[static_cast<int>(s)];
    double stay = 0;
    acceptance[s] = 0;
    for (std::size_t t = 0; t < states; ++t) {
      const double forward = log_q(domain, law_at(s), table.state(t));
      if (std::isinf(forward)) {
        row[t] = 0;
        continue;
      }
      const double log_ratio =
          table.logp(t) - table.logp(s) + log_q(domain, law_at(t), table.state(s)) - forward;
      const double accept = options_.adjust ? std::exp(std::min(0.0, log_ratio)) : 1.0;
      row[t] = std::exp(forward) * accept;
      acceptance[s] += row[t];
      stay += std::exp(forward) * (1 - accept);
    }
    row[s] += stay;
  }
}

}  // namespace saltus
