// What the samplers share that draw, update by update, from an exact conditional law.
#pragma once

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// After the last update of a step. Scores and cached values that moves have kept carry rounding,
// and are evaluated afresh.
void finish_updates(const Target& target, Tile& tile, Workspace& work, bool changed);

// matrix = one^power.
void take_power(Rows<const double> one, int power, Rows<double> matrix);

}  // namespace saltus
