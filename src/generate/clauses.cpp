#include <fmt/format.h>

#include <algorithm>

#include "generate/uniforms.hpp"
#include "saltus/core/error.hpp"
#include "saltus/generate.hpp"

namespace saltus {
namespace {

constexpr int kMostVariables = 100'000'000, kLongest = 30;
constexpr std::int64_t kMostLiterals = 1'000'000'000;

void check_clauses(int variables, int clauses, int length) {
  if (variables < 1 || variables > kMostVariables || clauses < 0) {
    throw UsageError(
        fmt::format("{} clauses over {} variables cannot be made; expected 0 clauses or more, and "
                    "1 to {} variables",
                    clauses, variables, kMostVariables));
  }
  if (length < 1 || length > std::min(kLongest, variables)) {
    throw UsageError(
        fmt::format("a clause is to have {} literals of different variables; expected "
                    "1 to {}",
                    length, std::min(kLongest, variables)));
  }
  if (std::int64_t{clauses} * length > kMostLiterals) {
    throw UsageError(fmt::format("the clauses would have {} literals; at most {} are made",
                                 std::int64_t{clauses} * length, kMostLiterals));
  }
}

}  // namespace

PlantedClauses planted_sat(int variables, int clauses, int length, std::uint64_t seed) {
  check_clauses(variables, clauses, length);
  Uniforms random(seed);
  PlantedClauses made{variables, length, {}, {}};
  for (int v = 0; v < variables; ++v) made.hidden.push_back(static_cast<Symbol>(random.below(2)));
  made.literals.reserve(static_cast<std::size_t>(clauses) * static_cast<std::size_t>(length));
  std::vector<std::int32_t> scope;
  for (int c = 0; c < clauses; ++c) {
    scope.clear();
    while (static_cast<int>(scope.size()) < length) {
      const auto v = static_cast<std::int32_t>(random.below(variables));
      if (std::ranges::find(scope, v) == scope.end()) scope.push_back(v);
    }
    // Bit t: whether literal t agrees with the hidden assignment. One of them does.
    std::int64_t agree = 1 + random.below((std::int64_t{1} << length) - 1);
    for (const std::int32_t v : scope) {
      const bool hidden = made.hidden[static_cast<std::size_t>(v)] != 0;
      made.literals.push_back((agree & 1) == hidden ? v + 1 : -(v + 1));
      agree >>= 1;
    }
  }
  return made;
}

}  // namespace saltus
