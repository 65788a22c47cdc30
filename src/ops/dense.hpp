// Fields of a dense pairwise model: one matrix product for all rows.
#pragma once

#include "saltus/core/rows.hpp"

namespace saltus::ops {

// Fields (S v + b)_i of every row and, where wanted, logp = v'Sv/2 + b'v. Uses BLAS where the build
// has one. `room` holds 2 * rows * n floats.
void dense_fields(Rows<const float> matrix, const float* field, float first_value, float spacing,
                  Rows<const Symbol> x, Rows<float> score, double* logp, float* room);

}  // namespace saltus::ops
