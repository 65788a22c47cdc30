// The exact transition matrix of discrete Langevin Monte Carlo, in double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/dlmc.hpp"
#include "sampler/informed/balancing.hpp"
#include "sampler/product_matrix.hpp"

namespace saltus {
namespace {

// log(1 - exp(-t)), t > 0
double log_one_minus_exp(double t) {
  return t < 0.5 ? std::log(-std::expm1(-t)) : std::log1p(-std::exp(-t));
}

}  // namespace

void Dlmc::log_probabilities(const Domain& domain, const Symbol* x, const double* score,
                             std::span<double> out) const {
  std::size_t begin = 0;
  for (int i = 0; i < domain.dim(); ++i) {
    const auto levels = static_cast<std::size_t>(domain.levels(i));
    const std::span log_p = out.subspan(begin, levels);
    std::vector<double> d(levels), stay(levels, -INFINITY);
    for (std::size_t k = 0; k < levels; ++k) {
      const int step = static_cast<int>(k) - x[i];
      const double* s = score + domain.score_begin(i);
      d[k] = domain.kind() == Domain::Kind::ordered ? *s * domain.spacing() * step : s[k] - s[x[i]];
      if (options_.window && std::abs(step) > options_.window) d[k] = -INFINITY;
    }
    const double norm = log_sum_exp(d);
    for (std::size_t k = 0; k < levels; ++k) {
      log_p[k] = -INFINITY;
      if (std::isinf(d[k])) continue;
      const double log_nu = d[k] - norm;
      const double t = step_size_ * std::exp(log_weight(options_.balancing, d[k]) - log_nu);
      if (k == x[i]) {
        stay[k] = log_nu;
      } else if (options_.form == DlmcOptions::Form::heat) {
        log_p[k] = log_nu + log_one_minus_exp(t);
        stay[k] = log_nu - t;
      } else {
        log_p[k] = log_nu + std::min(std::log(t), 0.0);
        stay[k] = log_nu + std::log1p(-std::min(t, 1.0));
      }
    }
    log_p[x[i]] = log_sum_exp(stay);  // 1 - sum of the others, without cancellation
    begin += levels;
  }
}

void Dlmc::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                             std::span<double> acceptance) const {
  const auto law = [&](std::size_t s, std::span<double> out) {
    log_probabilities(table.domain(), table.state(s), table.score(s), out);
  };
  product_matrix(table, true, law, matrix, acceptance);
}

}  // namespace saltus
