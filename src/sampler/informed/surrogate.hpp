// What the relaxed samplers share. A state x on two levels is seen as x = 1[z > 0] of a z in R^d
// with base density N(0, I); since every orthant has base mass 2^-d,
//   target     log p_t(z) = -|z|^2 / 2 + U(1[z > 0])      has exactly pi as the law of x,
//   surrogate  log p_s(z) = -|z|^2 / 2 + U(v(z)),         v = first + spacing sigma(z / t),
// has a gradient. U = logp. Grathwohl et al., "Oops I took a gradient", ICML 2021, appendix.
#pragma once

#include <array>
#include <cstdint>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Four independent N(0, 1) numbers from one block of a stream; coordinate i takes number i % 4 of
// block i / 4.
std::array<double, 4> normal_block(const Stream& stream, std::uint32_t block);

// U(v(z)) of every row (null: not wanted) and the gradient of log p_s. `gradient` has padded rows.
// Uses slots 5 and 6 of work.sampler_scratch. Counts nothing.
void surrogate(const Target& target, double temperature, Rows<const float> z, std::uint64_t step,
               Workspace& work, double* logp, Rows<float> gradient);

// z = (2 x - 1) |N(0, 1)|: the law of z given x. Takes Purpose::level at the tile's step, which no
// relaxed sampler uses otherwise (Purpose::start chose x).
void start_relaxed(const Tile& tile, std::uint64_t seed, Rows<float> z);

// to = 1[z > 0]; the number of coordinates in which it differs from `from` (which may be `to`).
std::uint32_t threshold(const float* z, int dim, const Symbol* from, Symbol* to);

// Throws UsageError unless t is a number that single precision can divide by.
void check_temperature(double temperature);

// What a target lacks for them, in words; empty when nothing.
std::string missing_for_relaxed(const Target& target);

}  // namespace saltus
