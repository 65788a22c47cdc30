#include "io/factors/factor_problem.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "io/problems/problem_text.hpp"

namespace saltus {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Of a number below the smallest normal double, which is checked to be one.
bool logarithm_of_digits(std::string_view word, double& logarithm) {
  constexpr std::size_t kMostDigits = 19;
  constexpr double kLogOfTen = 2.302585092994045684;
  const std::size_t mark = std::min(word.find_first_of("eE"), word.size());
  std::string digits;
  std::int64_t shift = 0;  // the value is digits x 10^shift
  bool fraction = false;
  for (const char c : word.substr(0, mark)) {
    if (c == '.') fraction = true;
    if (c < '0' || c > '9') continue;
    const bool kept = digits.size() < kMostDigits;
    if (kept && (c != '0' || !digits.empty())) digits += c;
    shift += (kept ? 0 : 1) - (fraction ? 1 : 0);
  }
  logarithm = kMinusInfinity;
  if (digits.empty()) return true;
  if (word.starts_with('-')) return false;
  std::int64_t exponent = 0;
  if (mark < word.size() && !whole_in(word.substr(mark + 1), exponent)) return false;
  logarithm = std::log(std::stod(digits)) +
              (static_cast<double>(exponent) + static_cast<double>(shift)) * kLogOfTen;
  return true;
}

}  // namespace

bool logarithm_in_decimals(std::string_view word, double& value, double& logarithm) {
  if (!number_in_decimals(word, value)) return false;
  if (value >= std::numeric_limits<double>::min()) {
    logarithm = std::log(value);
    return true;
  }
  return value > -std::numeric_limits<double>::min() && logarithm_of_digits(word, logarithm);
}

Model factors_problem(FactorsModel graph, const ProblemOptions& options) {
  Model model;
  model.objective = Objective{"logp", true, options.beta, false};
  model.value = scaled(std::move(graph), options.beta);
  return model;
}

Model clauses_problem(FactorsModel clauses, const ProblemOptions& options) {
  constexpr double kExact = 0x1p53;  // whole numbers below it are doubles
  double sum = 0;
  bool whole = true;
  for (const double weight : clauses.weights) {
    if (std::isinf(weight)) continue;
    sum += weight;
    whole = whole && weight == std::trunc(weight);
  }
  Model model;
  if (whole && sum >= kExact) {
    model.notes.emplace_back(
        "the weights sum to 2^53 or more: costs are rounded to double precision");
  }
  model.objective = Objective{"cost", false, options.beta, whole && sum < kExact};
  model.value = scaled(std::move(clauses), options.beta);
  return model;
}

}  // namespace saltus
