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

constexpr int kHalf = kWidth / 2, kHalves = kLanes / kHalf;

// Fields of coordinate i in all lanes, in double, and its part of logp. The score must not depend
// on whether logp is wanted, so there is one way to compute it.
inline void field_of(const SparseFields& m, int i, const float* values, float* out, Double* logp) {
  Double pairs[kHalves] = {};
  for (int64_t e = m.begin[i]; e < m.begin[i + 1]; ++e) {
    const float* neighbour = values + static_cast<int64_t>(m.column[e]) * kLanes;
    const double weight = m.weight[e];
    for (int h = 0; h < kHalves; ++h) {
      pairs[h] += weight * __builtin_convertvector(load<HalfFloat>(neighbour + h * kHalf), Double);
    }
  }
  const float* own = values + static_cast<int64_t>(i) * kLanes;
  const double field = m.field[i];
  for (int h = 0; h < kHalves; ++h) {
    if (logp) {
      const Double value = __builtin_convertvector(load<HalfFloat>(own + h * kHalf), Double);
      logp[h] += value * (pairs[h] * 0.5 + field);
    }
    store(out + h * kHalf, __builtin_convertvector(pairs[h] + field, HalfFloat));
  }
}

}  // namespace

void sparse_fields(const SparseFields& m, Rows<const Symbol> x, Rows<float> score, double* logp,
                   float* room) {
  clear_missing_rows(m, x.rows, room);
  transpose_in(m, x, room);
  Double sum[kHalves] = {};
  float block[kLanes][kLanes];  // 16 coordinates by 16 chains, written out transposed
  for (int begin = 0; begin < m.n; begin += kLanes) {
    const int count = m.n - begin < kLanes ? m.n - begin : kLanes;
    for (int j = 0; j < count; ++j) {
      field_of(m, begin + j, room, block[j], logp ? sum : nullptr);
    }
    if (!score) continue;
    for (int r = 0; r < x.rows; ++r) {
      float* out = score[r] + begin;
      for (int j = 0; j < count; ++j) out[j] = block[j][r];
    }
  }
  for (int r = 0; logp && r < x.rows; ++r) logp[r] = sum[r / kHalf][r % kHalf];
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
