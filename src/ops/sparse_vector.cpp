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

// Fields of coordinate i in all lanes.
inline void write_field(const SparseFields& m, int i, const float* values, float* out) {
  Float field[kParts];
  for (int p = 0; p < kParts; ++p) field[p] = splat(m.field[i]);
  for (int64_t e = m.full.begin[i]; e < m.full.begin[i + 1]; ++e) {
    const float* neighbour = values + static_cast<int64_t>(m.full.column[e]) * kLanes;
    const float weight = m.full.weight[e];
    for (int p = 0; p < kParts; ++p) field[p] += weight * load<Float>(neighbour + p * kWidth);
  }
  for (int p = 0; p < kParts; ++p) store(out + p * kWidth, field[p]);
}

inline Double doubles(const float* values) {
  return __builtin_convertvector(load<HalfFloat>(values), Double);
}

// Coordinate i's part of logp in all lanes.
inline void add_logp(const SparseFields& m, int i, const float* values, Double* logp) {
  Double pairs[kHalves];
  for (int h = 0; h < kHalves; ++h) pairs[h] = Double{} + m.exact_field[i];
  for (int64_t e = m.upper.begin[i]; e < m.upper.begin[i + 1]; ++e) {
    const float* neighbour = values + static_cast<int64_t>(m.upper.column[e]) * kLanes;
    const double weight = m.upper.weight[e];
    for (int h = 0; h < kHalves; ++h) pairs[h] += weight * doubles(neighbour + h * kHalf);
  }
  const float* own = values + static_cast<int64_t>(i) * kLanes;
  for (int h = 0; h < kHalves; ++h) logp[h] += doubles(own + h * kHalf) * pairs[h];
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
    for (int j = 0; logp && j < count; ++j) add_logp(m, begin + j, room, sum);
    if (!score) continue;
    for (int j = 0; j < count; ++j) write_field(m, begin + j, room, block[j]);
    for (int r = 0; r < x.rows; ++r) {
      float* out = score[r] + begin;
      for (int j = 0; j < count; ++j) out[j] = block[j][r];
    }
  }
  for (int r = 0; logp && r < x.rows; ++r) logp[r] = sum[r / kHalf][r % kHalf];
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
