#include "saltus/target/constrained.hpp"

#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {

namespace {

constexpr std::uint64_t kMostTries = 10000;

}  // namespace

void require_two_levels(const Target& model, const std::string& constraint) {
  if (model.domain().two_level()) return;
  throw UsageError("the constraint " + constraint +
                   " is for coordinates with two levels, but those of the model " + model.name() +
                   " are others");
}

Constrained::Constrained(std::shared_ptr<const Target> model, Constraint constraint)
    : model_(std::move(model)), constraint_(std::move(constraint)) {
  require_two_levels(*model_, constraint_.text());
  if (domain().dim() == constraint_.dim()) return;
  throw UsageError("the constraint " + constraint_.text() + " is on " +
                   std::to_string(constraint_.dim()) + " coordinates, but the model " + name() +
                   " has " + std::to_string(domain().dim()));
}

bool Constrained::make_allowed(const Stream& stream, Symbol* x) const {
  const auto possible = [&] { return logp_of(*model_, x) != -INFINITY; };
  if (constraint_.allows(x) && possible()) return true;
  const std::uint64_t seed = std::uint64_t{stream.key1} << 32 | stream.key0;
  for (std::uint64_t step = 1; step <= kMostTries; ++step) {
    const Stream next(seed, stream.chain, (std::uint64_t{1} << 49) + step, Purpose::start);
    constraint_.draw(next, x);
    if (possible()) return true;
  }
  return false;
}

std::optional<std::uint64_t> count_states(const Target& target, std::uint64_t limit) {
  if (const Constraint* constraint = target.constraint()) return constraint->count(limit);
  return target.domain().states(limit);
}

}  // namespace saltus
