// The exact law of two coupled DMALA chains on a small two-level model, from formulas of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/dlp.hpp"

namespace saltus {

// Joint states are x * n + y.
class CoupledLaw {
 public:
  // by_value: both take level 1 when u < P(1). Otherwise both flip when u < P(flip), which is a
  // coupling, too, but a poor one.
  CoupledLaw(const Dlp& sampler, const StateTable& table, bool by_value = true)
      : n_(table.size()), dim_(static_cast<std::size_t>(table.domain().dim())) {
    one_.resize(n_);
    std::vector<double> law(2 * dim_);
    for (std::size_t s = 0; s < n_; ++s) {
      sampler.log_probabilities(table.domain(), table.state(s), table.score(s), law);
      for (std::size_t i = 0; i < dim_; ++i) one_[s].push_back(std::exp(law[2 * i + 1]));
    }
    kernel_.resize(n_ * n_);
    for (std::size_t x = 0; x < n_; ++x) {
      for (std::size_t y = 0; y < n_; ++y) kernel_[x * n_ + y] = row(table, x, y, by_value);
    }
  }

  std::size_t states() const { return n_; }
  const std::vector<double>& row(std::size_t joint) const { return kernel_[joint]; }

  std::vector<double> after(const std::vector<double>& law) const {
    std::vector<double> next(n_ * n_);
    for (std::size_t a = 0; a < law.size(); ++a) {
      for (std::size_t b = 0; b < law.size(); ++b) next[b] += law[a] * kernel_[a][b];
    }
    return next;
  }

 private:
  static bool bit(std::size_t s, std::size_t i, std::size_t dim) { return s >> (dim - 1 - i) & 1; }

  double log_q(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = 0; i < dim_; ++i) {
      sum += std::log(bit(to, i, dim_) ? one_[from][i] : 1 - one_[from][i]);
    }
    return sum;
  }
  double acceptance(const StateTable& table, std::size_t from, std::size_t to) const {
    const double r = table.logp(to) - table.logp(from) + log_q(to, from) - log_q(from, to);
    return std::min(1.0, std::exp(r));
  }
  // P(coordinate i of the proposals is a and b).
  double joint(std::size_t x, std::size_t y, std::size_t i, bool a, bool b, bool by_value) const {
    double p = one_[x][i], q = one_[y][i];
    if (!by_value) {
      a = a != bit(x, i, dim_), b = b != bit(y, i, dim_);
      if (bit(x, i, dim_)) p = 1 - p;
      if (bit(y, i, dim_)) q = 1 - q;
    }
    if (a && b) return std::min(p, q);
    if (!a && !b) return 1 - std::max(p, q);
    return std::max(0.0, a ? p - q : q - p);
  }
  std::vector<double> row(const StateTable& table, std::size_t x, std::size_t y,
                          bool by_value) const {
    std::vector<double> to(n_ * n_);
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        double p = 1;
        for (std::size_t i = 0; i < dim_; ++i)
          p *= joint(x, y, i, bit(a, i, dim_), bit(b, i, dim_), by_value);
        if (p == 0) continue;
        const double u = acceptance(table, x, a), v = acceptance(table, y, b);
        to[a * n_ + b] += p * std::min(u, v);
        to[a * n_ + y] += p * std::max(0.0, u - v);
        to[x * n_ + b] += p * std::max(0.0, v - u);
        to[x * n_ + y] += p * (1 - std::max(u, v));
      }
    }
    return to;
  }

  std::size_t n_, dim_;
  std::vector<std::vector<double>> one_, kernel_;
};

}  // namespace saltus
