// A target of your own: any function that gives log p and its gradient.
//
// Here: pick a subset of items with values and weights, log p = total value minus a soft penalty
// for exceeding a budget. It is not log-quadratic, so DULA would be biased in its own way; DMALA is
// exact.
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/gradient_check.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/function.hpp"

using namespace saltus;

constexpr int kItems = 12;
constexpr double kBudget = 20;

// x holds 0 or 1 for every item. The gradient is that of the formula at any real x; it is not asked
// for when `gradient` is empty.
double log_p(std::span<const double> x, std::span<double> gradient) {
  double value = 0, weight = 0;
  for (int i = 0; i < kItems; ++i) {
    value += 0.1 * (i % 5) * x[i];
    weight += (1 + i % 4) * x[i];
  }
  const double over = weight - kBudget, penalty = 0.5 * std::log1p(std::exp(over));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const int item = static_cast<int>(i);
    gradient[i] = 0.1 * (item % 5) - 0.5 * (1 + item % 4) / (1 + std::exp(-over));
  }
  return value - penalty;
}

int main() {
  // 1. Is the gradient right? At a point between the levels it can be compared with differences.
  const std::vector<double> somewhere(kItems, 0.3);
  const double gradient_error = check_gradient(log_p, somewhere);
  std::printf("gradient against central differences: %.1e\n", gradient_error);

  // 2. Draw. All 4096 subsets give the exact answer, too.
  SampleRequest request(std::make_shared<Function>(Domain::binary(kItems), log_p, "knapsack"));
  request.plan.draws = 50000;
  const SampleResult result = sample(request);

  // 3. Compare.
  double worst = 0;
  for (std::size_t i = 0; i < kItems; ++i) {
    const CoordinateSummary& item = result.summaries[i];
    worst = std::fmax(worst, std::abs(item.mean - result.exact->means[i]) / item.mcse);
  }
  std::printf("largest deviation of a mean: %.1f standard errors\n", worst);
  return gradient_error < 1e-6 && worst < 5 ? 0 : 1;
}
