// Which levels a coordinate may move to.
#pragma once

#include "ops/ops.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

struct LevelRange {
  int first, last;
};

// All levels, or those within the window, clipped at the ends of the domain.
inline LevelRange candidate_levels(const LevelsLaw& law, int i, int x) {
  const int last = law.domain->levels(i) - 1;
  if (law.window == 0) return {0, last};
  return {x > law.window ? x - law.window : 0, last - x > law.window ? x + law.window : last};
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
