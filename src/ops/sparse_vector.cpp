// Fields of a pairwise model on a sparse graph, sixteen chains side by side. Compiled once per
// instruction set.
//
// With the chains in the lanes every neighbour is one contiguous load of 16 values, shared index
// and weight, where a chain on its own would need a gather per neighbour.
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

struct Lanes16 {
  Float part[kParts];
};

// values[i * 16 + r] = value of coordinate i in row r; missing rows hold zeros.
inline void transpose_in(const SparseFields& m, Rows<const Symbol> x, float* values) {
  for (int begin = 0; begin < m.n; begin += kLanes) {
    const int count = m.n - begin < kLanes ? m.n - begin : kLanes;
    float* out = values + static_cast<int64_t>(begin) * kLanes;
    for (int r = 0; r < x.rows; ++r) {
      const Symbol* in = x[r] + begin;
      for (int j = 0; j < count; ++j) {
        out[j * kLanes + r] = m.first_value + m.spacing * static_cast<float>(in[j]);
      }
    }
  }
}

inline void clear_missing_rows(const SparseFields& m, int rows, float* values) {
  if (rows == kLanes) return;
  for (int64_t i = 0; i < m.n; ++i) {
    for (int r = rows; r < kLanes; ++r) values[i * kLanes + r] = 0;
  }
}

inline Lanes16 field_of(const SparseFields& m, int i, const float* values) {
  Lanes16 field;
  for (int p = 0; p < kParts; ++p) field.part[p] = splat(m.field[i]);
  for (int64_t e = m.begin[i]; e < m.begin[i + 1]; ++e) {
    const float* neighbour = values + static_cast<int64_t>(m.column[e]) * kLanes;
    const float weight = m.weight[e];
    for (int p = 0; p < kParts; ++p) field.part[p] += weight * load<Float>(neighbour + p * kWidth);
  }
  return field;
}

}  // namespace

void sparse_fields(const SparseFields& m, Rows<const Symbol> x, Rows<float> score, double* logp,
                   float* room) {
  clear_missing_rows(m, x.rows, room);
  transpose_in(m, x, room);
  double sum[kLanes] = {};
  float block[kLanes][kLanes];  // 16 coordinates by 16 chains, written out transposed
  for (int begin = 0; begin < m.n; begin += kLanes) {
    const int count = m.n - begin < kLanes ? m.n - begin : kLanes;
    for (int j = 0; j < count; ++j) {
      const Lanes16 field = field_of(m, begin + j, room);
      for (int p = 0; p < kParts; ++p) store(block[j] + p * kWidth, field.part[p]);
    }
    if (logp) {
      for (int j = 0; j < count; ++j) {
        const float* value = room + static_cast<int64_t>(begin + j) * kLanes;
        const float own = m.field[begin + j];
        for (int r = 0; r < kLanes; ++r) {
          sum[r] += static_cast<double>(value[r] * (block[j][r] + own));
        }
      }
    }
    if (!score) continue;
    for (int r = 0; r < x.rows; ++r) {
      float* out = score[r] + begin;
      for (int j = 0; j < count; ++j) out[j] = block[j][r];
    }
  }
  if (logp) {
    for (int r = 0; r < x.rows; ++r) logp[r] = sum[r] / 2;
  }
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
