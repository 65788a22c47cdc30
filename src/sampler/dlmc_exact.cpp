// The exact transition matrix of discrete Langevin Monte Carlo, in double precision.
#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/diagnose/state_table.hpp"
#include "saltus/sampler/dlmc.hpp"
#include "sampler/balancing.hpp"

namespace saltus {
namespace {

double log_sum_exp(std::span<const double> a) {
  const double top = *std::max_element(a.begin(), a.end());
  double sum = 0;
  for (double v : a) sum += std::exp(v - top);
  return top + std::log(sum);
}

// log(1 - exp(-t)), t > 0
double log_one_minus_exp(double t) {
  return t < 0.5 ? std::log(-std::expm1(-t)) : std::log1p(-std::exp(-t));
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
  const Domain& domain = table.domain();
  const std::size_t states = table.size(), width = total_levels(domain);
  std::vector<double> law(states * width);
  const auto law_at = [&](std::size_t s) { return std::span(law).subspan(s * width, width); };
  for (std::size_t s = 0; s < states; ++s) {
    log_probabilities(domain, table.state(s), table.score(s), law_at(s));
  }
  for (std::size_t s = 0; s < states; ++s) {
    double* row = matrix[static_cast<int>(s)];
    double rejected = 0;
    acceptance[s] = 0;
    for (std::size_t t = 0; t < states; ++t) {
      const double forward = log_q(domain, law_at(s), table.state(t));
      row[t] = 0;
      if (std::isinf(forward)) continue;
      const double log_ratio =
          table.logp(t) - table.logp(s) + log_q(domain, law_at(t), table.state(s)) - forward;
      const double accept = std::exp(std::min(0.0, log_ratio));
      row[t] = std::exp(forward) * accept;
      acceptance[s] += row[t];
      rejected += std::exp(forward) * (1 - accept);
    }
    row[s] += rejected;
  }
}

}  // namespace saltus
