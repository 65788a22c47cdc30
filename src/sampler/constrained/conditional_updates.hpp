// What the samplers share that draw, update by update, from an exact conditional law.
#pragma once

#include <span>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Numbers become exp(v - max); returns their sum.
double take_exp(std::span<double> v);
// A place with a probability proportional to exp of the number there, which becomes exp(v - max).
std::size_t draw_by_logs(std::span<double> v, double u);

// After the last update of a step. Scores and cached values that moves have kept carry rounding,
// and are evaluated afresh.
void finish_updates(const Target& target, Tile& tile, Workspace& work, bool changed);

// matrix = one^power.
void take_power(Rows<const double> one, int power, Rows<double> matrix);

}  // namespace saltus
