#include "saltus/target/poisson.hpp"

#include <cmath>
#include <numbers>

#include "core/log_gamma.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

Poisson::Poisson(PoissonModel model)
    : model_(std::move(model)), domain_(Domain::integers(static_cast<int>(model_.rates.size()))) {
  const std::vector<double>& rates = model_.rates;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (!(rates[i] > 0 && rates[i] <= kMaxRate)) {
      throw DataError("rate " + std::to_string(i) + " is " + std::to_string(rates[i]) +
                      "; it must be above 0 and at most 60000");
    }
    log_rate_.push_back(std::log(rates[i]));
  }
  // digamma(n + 1) = -gamma + sum_{k <= n} 1/k; log n! from lgamma, which keeps all digits.
  double harmonic = -std::numbers::egamma;
  for (int n = 0; n < domain_.max_levels(); ++n) {
    if (n > 0) harmonic += 1.0 / n;
    digamma_.push_back(harmonic);
    log_factorial_.push_back(log_gamma(n + 1.0));
  }
}

template <class T>
void Poisson::evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const {
  for (int r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < log_rate_.size(); ++i) {
      const Symbol n = x[r][i];
      sum += n * log_rate_[i] - log_factorial_[n];
      if (score) score[r][i] = static_cast<T>(log_rate_[i] - digamma_[n]);
    }
    if (logp) logp[r] = sum;
  }
}

void Poisson::evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_rows(x, logp, score);
}

void Poisson::evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                             Rows<double> score) const {
  evaluate_rows(x, logp, score);
}

void Poisson::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const Symbol now = row.x[i];
  for (int m = 0; m < count; ++m) {
    out[m] = (first + m - now) * log_rate_[static_cast<std::size_t>(i)] -
             (log_factorial_[static_cast<std::size_t>(first + m)] - log_factorial_[now]);
  }
}

void Poisson::move(const LocalRow& row, int i, Symbol to) const {
  row.x[i] = to;
  if (row.score) {
    row.score[i] = static_cast<float>(log_rate_[static_cast<std::size_t>(i)] - digamma_[to]);
  }
}

}  // namespace saltus
