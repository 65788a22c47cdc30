// The exact answer, where it takes about a second at most.
#pragma once

#include <optional>

#include "saltus/diagnose/exact.hpp"

namespace saltus {

// State evaluations times coordinates up to which exact answers are computed beside estimates.
inline constexpr double kExactWork = 1e9;

// Nothing where the model is too large, or has no exact answer.
inline std::optional<ExactAnswer> affordable_exact_answer(const Target& target, int threads) {
  const Domain& domain = target.domain();
  if (target.stochastic() || domain.unbounded()) return std::nullopt;
  if (!domain.states(static_cast<std::uint64_t>(kExactWork / domain.dim()))) return std::nullopt;
  return exact_answer(target, threads);
}

}  // namespace saltus
