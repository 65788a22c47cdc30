#include "reproduce/small/dula_law.hpp"

#include <cmath>

namespace saltus::reproduce {
namespace {

// The part of each state by which its probability grows: pi_alpha / pi - 1.
std::vector<double> growth(std::span<const double> probability,
                           std::span<const double> log_factor) {
  double mean = 0;  // of the factor, less one
  for (std::size_t s = 0; s < probability.size(); ++s) {
    mean += probability[s] * std::expm1(log_factor[s]);
  }
  std::vector<double> result(probability.size());
  for (std::size_t s = 0; s < probability.size(); ++s) {
    result[s] = (std::expm1(log_factor[s]) - mean) / (1 + mean);
  }
  return result;
}

// sum_k exp(a_ik) - 1 over the levels other than the current one.
double other_weights(const StateTable& table, std::size_t s, int i, double penalty) {
  const Domain& domain = table.domain();
  const int now = table.state(s)[i];
  const double* score = table.score(s) + domain.score_begin(i);
  double sum = 0;
  for (int k = 0; k < domain.levels(i); ++k) {
    if (k == now) continue;
    const bool categorical = domain.kind() == Domain::Kind::categorical;
    const double drift = categorical ? (score[k] - score[now]) / 2
                                     : score[0] * (domain.value(k) - domain.value(now)) / 2;
    sum += std::exp(drift - penalty);
  }
  return sum;
}

}  // namespace

std::vector<double> log_normalizers(const StateTable& table, double penalty) {
  std::vector<double> result(table.size());
  for (std::size_t s = 0; s < table.size(); ++s) {
    for (int i = 0; i < table.domain().dim(); ++i) {
      result[s] += std::log1p(other_weights(table, s, i, penalty));
    }
  }
  return result;
}

std::vector<double> tilted(std::span<const double> probability,
                           std::span<const double> log_factor) {
  std::vector<double> law = growth(probability, log_factor);
  for (std::size_t s = 0; s < law.size(); ++s) law[s] = probability[s] * (1 + law[s]);
  return law;
}

double l1_of_tilt(std::span<const double> probability, std::span<const double> log_factor) {
  const std::vector<double> part = growth(probability, log_factor);
  double sum = 0;
  for (std::size_t s = 0; s < part.size(); ++s) sum += probability[s] * std::abs(part[s]);
  return sum;
}

}  // namespace saltus::reproduce
