// Which levels a coordinate may move to, and the passes for coordinates with few of them,
// coordinates in the lanes: propose_levels and log_q_levels use them where they apply.
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

constexpr int kFewLevels = 16;

// Candidates of one coordinate: all levels, or the window around the current one.
inline int candidates(const LevelsLaw& law) {
  return law.window == 0 ? law.domain->max_levels() : 2 * law.window + 1;
}

// Every coordinate has the same, small number of candidates.
inline bool has_few_levels(const LevelsLaw& law) {
  return law.domain->uniform_levels() != 0 && candidates(law) <= kFewLevels;
}

Proposed propose_few_levels(const LevelsLaw&, const Symbol* x, const float* score, Symbol* y,
                            const Stream&, bool want_log_q);
double log_q_few_levels(const LevelsLaw&, const Symbol* from, const float* score, const Symbol* to);

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
