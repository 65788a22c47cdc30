#include "saltus/temper/ladder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltus {
namespace {

// What counts as the least rejection, so that no two betas of a ladder coincide.
constexpr double kLeastRejection = 1e-6;
constexpr int kLeastPairs = 2, kMostPairs = 512;
constexpr double kNoBarrier = 1e-9;  // rounding alone: the base is the model

}  // namespace

double swap_probability(double beta_low, double beta_high, double v_low, double v_high) {
  const double log_ratio = (beta_high - beta_low) * (v_low - v_high);
  return std::isnan(log_ratio) ? 0 : log_ratio >= 0 ? 1 : std::exp(log_ratio);
}

std::vector<std::uint64_t> warmup_rounds(std::uint64_t scans) {
  std::vector<std::uint64_t> rounds;
  for (std::uint64_t length = 2; scans > 0; length *= 2) {
    rounds.push_back(scans >= 2 * length ? length : scans);
    scans -= rounds.back();
  }
  return rounds;
}

std::vector<double> equal_rejection_ladder(std::span<const double> betas,
                                           std::span<const double> rejection, int pairs) {
  std::vector<double> cumulated = {0};
  for (const double r : rejection) {
    cumulated.push_back(cumulated.back() + std::max(r, kLeastRejection));
  }
  std::vector<double> ladder = {0};
  std::size_t k = 1;
  for (int j = 1; j < pairs; ++j) {
    const double wanted = cumulated.back() * j / pairs;
    while (cumulated[k] < wanted) ++k;
    const double part = (wanted - cumulated[k - 1]) / (cumulated[k] - cumulated[k - 1]);
    ladder.push_back(betas[k - 1] + part * (betas[k] - betas[k - 1]));
  }
  ladder.push_back(1);
  return ladder;
}

double barrier(std::span<const double> rejection) {
  return std::accumulate(rejection.begin(), rejection.end(), 0.0);
}

bool has_barrier(std::span<const double> rejection) {
  return barrier(rejection) > kNoBarrier;
}

double round_trip_rate(std::span<const double> rejection) {
  double inefficiency = 0;
  for (const double r : rejection) inefficiency += r / (1 - r);
  return 1 / (2 + 2 * inefficiency);
}

int better_pairs(std::span<const double> rejection) {
  const int now = static_cast<int>(rejection.size());
  if (!has_barrier(rejection)) return 1;
  const int wanted = static_cast<int>(std::lround(2 * barrier(rejection)));
  return std::clamp(std::clamp(wanted, (now + 1) / 2, 2 * now), kLeastPairs, kMostPairs);
}

}  // namespace saltus
