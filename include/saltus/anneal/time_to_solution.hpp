// How long a search takes to find a goal with a probability of 99 %, by as many restarts as that
// takes: Ronnow et al., "Defining and detecting quantum speedup", Science 345, 2014.
#pragma once

#include <optional>

namespace saltus {

// The probability of success from s successes in n restarts, with the 95 % interval of Jeffreys'
// prior: quantiles of Beta(s + 1/2, n - s + 1/2).
struct SuccessRate {
  double mean = 0, low = 0, high = 0;
};
SuccessRate success_rate(int successes, int restarts);

// The quantile of the Beta distribution with parameters a, b > 0.
double beta_quantile(double probability, double a, double b);

// max(1, ln 0.01 / ln(1 - P)): restarts that succeed at least once with a probability of 99 %.
// Infinite for P = 0.
double restarts_to_solution(double success);

// The same of a rate: `low` from the upper end of its interval, `high` from the lower one. Without
// a success there is a lower bound alone.
struct TimeToSolution {
  std::optional<double> restarts;
  double low = 0;
  std::optional<double> high;
};
TimeToSolution time_to_solution(int successes, int restarts);

}  // namespace saltus
