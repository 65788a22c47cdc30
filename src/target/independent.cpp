#include "saltus/target/independent.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/target.hpp"

namespace saltus {
namespace {

constexpr double kSumError = 1e-6;  // of probabilities written with six digits or more

std::size_t all_levels(const Domain& domain) {
  if (domain.unbounded()) {
    throw UsageError(
        "the model's integers are unbounded: independent coordinates need finitely many levels");
  }
  std::size_t sum = 0;
  for (int i = 0; i < domain.dim(); ++i) sum += static_cast<std::size_t>(domain.levels(i));
  return sum;
}

void check_count(std::size_t given, std::size_t expected) {
  if (given == expected) return;
  throw DataError("there are " + std::to_string(given) + " probabilities, but the model needs " +
                  std::to_string(expected));
}

[[noreturn]] void refuse(int i, const std::string& why) {
  throw DataError("the probabilities of coordinate " + std::to_string(i) + " " + why);
}

}  // namespace

Independent::Independent(const Domain& domain, std::vector<double> log_p)
    : domain_(domain), log_p_(std::move(log_p)) {
  if (!domain_.uniform_levels()) {
    int sum = 0;
    for (int i = 0; i < domain_.dim(); sum += domain_.levels(i++)) begin_.push_back(sum);
  }
  uniform_ = true;
  for (int i = 0; i < domain_.dim(); ++i) {
    log_p_of_zeros_ += log_probability(i, 0);
    for (int k = 1; k < domain_.levels(i); ++k) {
      uniform_ = uniform_ && log_probability(i, k) == log_probability(i, 0);
    }
    if (!domain_.two_level()) continue;
    logit_.push_back(log_probability(i, 1) - log_probability(i, 0));
  }
  fixed_score_ = uniform_ || domain_.two_level() || domain_.kind() == Domain::Kind::categorical;
}

Independent Independent::uniform(const Domain& domain) {
  std::vector<double> log_p;
  log_p.reserve(all_levels(domain));
  for (int i = 0; i < domain.dim(); ++i) {
    log_p.insert(log_p.end(), static_cast<std::size_t>(domain.levels(i)),
                 -std::log(domain.levels(i)));
  }
  return {domain, std::move(log_p)};
}

Independent Independent::uniform(const Target& target) {
  Independent law = uniform(target.domain());
  if (const Constraint* constraint = target.constraint()) {
    law.constraint_ = std::make_shared<const Constraint>(*constraint);
    law.log_p_of_zeros_ = -constraint->log_count();  // of any state: they are equally likely
  }
  return law;
}

Independent Independent::bernoulli(const Domain& domain, std::span<const double> upper) {
  if (!domain.two_level()) throw UsageError("the model's coordinates do not have two levels each");
  check_count(upper.size(), static_cast<std::size_t>(domain.dim()));
  std::vector<double> log_p;
  for (std::size_t i = 0; i < upper.size(); ++i) {
    if (!(upper[i] > 0 && upper[i] < 1)) {
      refuse(static_cast<int>(i), "must lie between 0 and 1, without these two");
    }
    log_p.push_back(std::log1p(-upper[i]));
    log_p.push_back(std::log(upper[i]));
  }
  return {domain, std::move(log_p)};
}

Independent Independent::of_levels(const Domain& domain, std::span<const double> probabilities) {
  check_count(probabilities.size(), all_levels(domain));
  std::vector<double> log_p;
  const double* next = probabilities.data();
  for (int i = 0; i < domain.dim(); ++i) {
    double sum = 0;
    for (int k = 0; k < domain.levels(i); ++k) {
      if (!(next[k] > 0)) refuse(i, "must all be above 0");
      sum += next[k];
    }
    if (!(std::abs(sum - 1) < kSumError)) {
      refuse(i, "sum to " + std::to_string(sum) + " instead of 1");
    }
    for (int k = 0; k < domain.levels(i); ++k) log_p.push_back(std::log(*next++ / sum));
  }
  return {domain, std::move(log_p)};
}

std::size_t Independent::place(int i, int level) const {
  const int begin =
      begin_.empty() ? i * domain_.uniform_levels() : begin_[static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(begin) + static_cast<std::size_t>(level);
}

double Independent::log_probability(const Symbol* x) const {
  if (uniform_) return log_p_of_zeros_;
  if (!logit_.empty()) {
    return log_p_of_zeros_ +
           ops::active().weigh_values(domain_.dim(), x, 0, 1, nullptr, logit_.data());
  }
  double sum = 0;
  for (int i = 0; i < domain_.dim(); ++i) sum += log_probability(i, x[i]);
  return sum;
}

double Independent::score(int i, int level) const {
  if (domain_.kind() == Domain::Kind::categorical) return log_probability(i, level);
  const int low = std::max(level - 1, 0), high = std::min(level + 1, domain_.levels(i) - 1);
  if (low == high) return 0;
  return (log_probability(i, high) - log_probability(i, low)) / (domain_.spacing() * (high - low));
}

void Independent::draw(const Stream& stream, Symbol* x) const {
  if (constraint_) return constraint_->draw(stream, x);
  for (int i = 0; i < domain_.dim(); ++i) {
    double left = stream.uniform(static_cast<std::uint32_t>(i));
    int level = 0;
    const int last = domain_.levels(i) - 1;
    while (level < last && (left -= std::exp(log_probability(i, level))) >= 0) ++level;
    x[i] = static_cast<Symbol>(level);
  }
}

}  // namespace saltus
