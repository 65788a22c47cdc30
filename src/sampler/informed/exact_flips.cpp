#include "sampler/informed/exact_flips.hpp"

#include <algorithm>
#include <cmath>

#include "sampler/informed/balancing.hpp"
#include "sampler/product_matrix.hpp"

namespace saltus {

ExactFlips::ExactFlips(const StateTable& table, Balancing balancing, int window, bool exact)
    : table_(table),
      dim_(at(table.domain().dim())),
      width_(at(table.domain().max_levels())),
      site_(table.size() * dim_),
      level_(table.size() * dim_ * width_, -INFINITY) {
  const Domain& domain = table.domain();
  const bool categorical = domain.kind() == Domain::Kind::categorical;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const Symbol* x = table.state(s);
    const double* score = table.score(s);
    std::vector<Symbol> y(x, x + dim_);
    for (int i = 0; i < domain.dim(); ++i) {
      const std::span weights(level_.data() + (s * dim_ + at(i)) * width_, width_);
      const int c = x[i];
      for (int k = 0; k < domain.levels(i); ++k) {
        if (k == c || (window > 0 && std::abs(k - c) > window)) continue;
        const double* of = score + domain.score_begin(i);
        double d = categorical ? of[k] - of[c] : score[i] * (domain.value(k) - domain.value(c));
        if (exact) {
          y[at(i)] = static_cast<Symbol>(k);
          d = table.logp(table.index(y.data())) - table.logp(s);
        }
        weights[at(k)] = log_weight(balancing, d);
      }
      y[at(i)] = x[i];
      site_[s * dim_ + at(i)] = log_sum_exp(weights);
    }
  }
}

void ExactFlips::fill(Rows<double> matrix, std::span<double> acceptance,
                      const std::function<void(std::size_t s, double* row)>& add_lists) const {
  for (std::size_t s = 0; s < table_.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, table_.size(), 0.0);
    acceptance[s] = 0;
    if (std::isfinite(log_others(s, {}))) {
      add_lists(s, row);
    } else {
      row[s] = 1;
    }
  }
}

double ExactFlips::log_others(std::size_t s, std::span<const int> without) const {
  std::vector<double> left(site_.begin() + static_cast<std::ptrdiff_t>(s * dim_),
                           site_.begin() + static_cast<std::ptrdiff_t>((s + 1) * dim_));
  for (int i : without) left[at(i)] = -INFINITY;
  return log_sum_exp(left);
}

double ExactFlips::log_level(std::size_t s, int i, int k) const {
  return level_[(s * dim_ + at(i)) * width_ + at(k)] - log_site(s, i);
}

void ExactFlips::add(std::size_t s, std::span<const int> distinct, double log_forward,
                     const std::function<double(std::size_t)>& log_back, double* row,
                     double& acceptance) const {
  if (!std::isfinite(log_forward)) return;
  std::vector<Symbol> y(table_.state(s), table_.state(s) + dim_);
  const auto enumerate = [&](const auto& self, std::size_t k, double log_q) -> void {
    if (k < distinct.size()) {
      const int i = distinct[k];
      for (int level = 0; level < table_.domain().levels(i); ++level) {
        const double log_p = log_level(s, i, level);
        if (log_p == -INFINITY) continue;
        y[at(i)] = static_cast<Symbol>(level);
        self(self, k + 1, log_q + log_p);
      }
      return;
    }
    const std::size_t t = table_.index(y.data());
    double log_ratio = table_.logp(t) - table_.logp(s) + log_back(t) - log_q;
    for (int i : distinct) log_ratio += log_level(t, i, table_.state(s)[i]);
    const double q = std::exp(log_q);
    const double accept = std::isfinite(log_ratio) ? std::exp(std::min(0.0, log_ratio)) : 0.0;
    row[t] += q * accept;
    row[s] += q * (1 - accept);
    acceptance += q * accept;
  };
  enumerate(enumerate, 0, log_forward);
}

}  // namespace saltus
