#include "sampler/product_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace saltus {

double log_sum_exp(std::span<const double> a) {
  const double top = *std::max_element(a.begin(), a.end());
  if (top == -INFINITY) return top;
  double sum = 0;
  for (double v : a) sum += std::exp(v - top);
  return top + std::log(sum);
}

namespace {

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

void product_matrix(const StateTable& table, bool adjust,
                    const std::function<void(std::size_t s, std::span<double> out)>& log_law,
                    Rows<double> matrix, std::span<double> acceptance) {
  const Domain& domain = table.domain();
  const std::size_t states = table.size(), width = total_levels(domain);
  std::vector<double> law(states * width);
  const auto law_at = [&](std::size_t s) { return std::span(law).subspan(s * width, width); };
  for (std::size_t s = 0; s < states; ++s) log_law(s, law_at(s));
  for (std::size_t s = 0; s < states; ++s) {
    double* row = matrix[static_cast<int>(s)];
    double stay = 0;
    acceptance[s] = 0;
    for (std::size_t t = 0; t < states; ++t) {
      const double forward = log_q(domain, law_at(s), table.state(t));
      row[t] = 0;
      if (std::isinf(forward)) continue;
      const double log_ratio =
          table.logp(t) - table.logp(s) + log_q(domain, law_at(t), table.state(s)) - forward;
      const double accept = adjust ? std::exp(std::min(0.0, log_ratio)) : 1.0;
      row[t] = std::exp(forward) * accept;
      acceptance[s] += row[t];
      stay += std::exp(forward) * (1 - accept);
    }
    row[s] += stay;
  }
}

}  // namespace saltus
