// The fused passes over a row, in one table per instruction set.
//
// Level::scalar is the specification: plain loops, double precision, the C library's exp and log.
// The other levels are one source (the *_vector.cpp files beside this one) compiled once per
// instruction set. They work in float with sums in double, and by construction give the same bits
// at every vector level: sixteen lanes in a fixed order, no fused multiply-add.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ops/gibbs/spins.hpp"
#include "saltus/core/domain.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/core/rows.hpp"

namespace saltus::ops {

// The discrete Langevin proposal for two-level coordinates. Flip logit of coordinate i at level
// x_i:
//   l_i = -/+ pull * score_i - penalty_i   (minus when x_i = 1, plus when x_i = 0),
// pull = gamma (v_1 - v_0) for level values v and the balancing exponent gamma, penalty_i =
// distance^2 / (2 alpha p_i).
struct TwoLevelLaw {
  float pull = 0.5f;
  const float* penalty = nullptr;  // one for all coordinates, or one each, padded like a row
  bool uniform = true;
};

// The same for coordinates with any number of levels: logit of level k at level x,
//   ordered:      pull * score_i * (k - x) - penalty_i * (k - x)^2,  |k - x| <= window,
//   categorical:  pull * (score_ik - score_ix) - penalty_i * [k != x],
// pull = gamma times the distance of neighbouring levels (categorical: gamma).
struct LevelsLaw {
  const Domain* domain = nullptr;
  float pull = 0.5f;
  const float* penalty = nullptr;
  bool uniform = true;
  int window = 0;  // 0: all levels
};

struct Proposed {
  double log_q = 0;  // log probability of what was drawn; 0 when not wanted
  std::uint32_t changes = 0;
  bool finite = true;  // no logit was NaN
};

// How one coordinate of such a law decides. The likelier of flip and stay happens, unless the upper
// 31 bits of the coordinate's random word are below `unlikely`.
struct FlipRule {
  uint32_t unlikely;
  bool likely_flips;  // the likelier outcome is the flip
};

struct Lattice {
  int rows, cols;
  bool periodic;
  float a2, b;  // 2a and b: score = a2 * (sum of neighbours) + b
};

// Integer sums from which logp of a lattice row follows exactly.
struct LatticeSums {
  std::int64_t pairs = 0;  // sum over sites of s_i * (sum of its neighbours): each edge twice
  std::int64_t spins = 0;  // sum of s_i
};

// A matrix by rows.
template <class T>
struct SparseRows {
  const std::int64_t* begin;  // n + 1
  const std::int32_t* column;
  const T* weight;
};

// A pairwise model v'Sv/2 + b'v: S in single precision for the score; for logp its upper triangle
// in double, with half of the diagonal. The two are apart so that a score never depends on whether
// logp is wanted.
struct SparseFields {
  int n;
  SparseRows<float> full;
  const float* field;
  SparseRows<double> upper;
  const double* exact_field;
  float first_value, spacing;
};

// A row of a matrix as a term of a sum.
struct ScaledRow {
  std::int32_t row;
  float factor;
};

// Heat-bath updates of a lattice's sites: a site with `degree` neighbours, `up` of them at
// level 1, takes level 1 when the upper 31 bits of its random word are below threshold[degree][up].
struct LatticeGibbs {
  int rows, cols;
  bool periodic;
  std::array<std::array<uint32_t, 5>, 5> threshold;
};

// Gibbs updates of a two-level pairwise model. With S the symmetric matrix without its diagonal,
//   logp(x_i = 1) - logp(x_i = 0) = base_i + scale * sum over neighbours j at level 1 of S_ij.
struct PairGibbs {
  int n;
  SparseRows<float> rows;  // with the diagonal
  const float *diagonal, *base;
  float scale;
  Rows<const float> dense;  // the same matrix in full, where the model has it
};

// The same for a dense matrix S, diagonal included: values first_value + spacing * level, and
// fields S v + field.
struct DenseGibbs {
  Rows<const float> matrix;  // padded rows
  const float* field;
  float first_value, spacing;
};

// The derivative of a network's error by one hidden unit's bias, and by the weight it counts with.
struct UnitSlopes {
  double bias = 0, weight = 0;
};

// Rows given to the passes are padded (kRowPadding): the proposals read and write whole groups
// of 64.
struct Ops {
  // Draws y from the proposal at x. The stream's word i belongs to coordinate i.
  Proposed (*propose_two_level)(const TwoLevelLaw&, int n, const Symbol* x, const float* score,
                                Symbol* y, const Stream&, bool want_log_q);
  // log q(to | from).
  double (*log_q_two_level)(const TwoLevelLaw&, int n, const Symbol* from, const float* score,
                            const Symbol* to);
  // `room` holds at least room_for_levels(domain) floats.
  Proposed (*propose_levels)(const LevelsLaw&, const Symbol* x, const float* score, Symbol* y,
                             const Stream&, bool want_log_q, float* room);
  double (*log_q_levels)(const LevelsLaw&, const Symbol* from, const float* score, const Symbol* to,
                         float* room);
  // Score (where not null) and sums of one lattice state.
  LatticeSums (*lattice)(const Lattice&, const Symbol* x, float* score);
  // Fields (S v + b)_i of up to 16 rows and, where logp is not null, v'Sv/2 + b'v in double.
  // `room` holds 16 n floats.
  void (*sparse_fields)(const SparseFields&, Rows<const Symbol> x, Rows<float> score, double* logp,
                        float* room);
  // Activations sigma(z) of hidden units (where not null; z itself may become them) and, where
  // wanted, the sum of softplus(z).
  double (*activate)(int n, const float* z, float* activation, bool want_softplus);
  // The sum of softplus(z + change * w) - softplus(z).
  double (*softplus_change)(int n, const float* z, const float* w, float change);
  // to = from + the sum of some rows of a matrix with n columns, one after the other.
  void (*add_rows)(int n, Rows<const float> matrix, const ScaledRow* terms, int count,
                   const float* from, float* to);
  // The sum of (first_value + spacing * x_i) * (a_i + b_i); a may be null.
  double (*weigh_values)(int n, const Symbol* x, float first_value, float spacing, const float* a,
                         const double* b);
  // Draws all sites of one colour of the chessboard ((row + column) % 2), the k-th of them with
  // word first_word + k (Stream::word); first_word is a multiple of 64. Returns how many changed.
  uint32_t (*gibbs_lattice)(const LatticeGibbs&, int colour, Symbol* x, const Stream&,
                            uint32_t first_word);
  // Draws the coordinates of the order one after the other in up to 16 rows, the t-th in row r with
  // word first_word + t (Stream::sequence) of the stream with r added to its chain. Adds to
  // changed[r]. `room` holds n entries.
  void (*gibbs_pairs)(const PairGibbs&, Rows<Symbol> x, const int32_t* order, int count,
                      const Stream&, uint32_t first_word, uint32_t* changed, uint16_t* room);
  // The same for one row of a dense model, whose score (padded) is that of x on entry and on
  // return, but for rounding. Returns how many changed.
  uint32_t (*gibbs_dense)(const DenseGibbs&, Symbol* x, float* score, const int32_t* order,
                          int count, const Stream&, uint32_t first_word);
  // Heat-bath updates of groups of 64 chains of spins, one bit each (gibbs/spins.hpp): the first
  // `groups` words of each site. Chain c of them is that of the stream with c added. Adds to
  // gain[c] what its log p gained, in units of twice the coupling's.
  void (*gibbs_spins)(const SpinGraph&, const SpinOdds&, uint64_t* spins, const int32_t* order,
                      int count, const Stream&, int groups, int32_t* gain);
  // The number of bits that `count` words of x have in common with the words of y, one more of
  // them, moved down by `shift` places, 63 at most.
  uint64_t (*common_bits)(const uint64_t* x, const uint64_t* y, std::size_t count, unsigned shift);
  // One hidden unit over n rows of data, with room up to the next multiple of 16, where everything
  // must be finite: z becomes t = tanh(z + bias), and weight * t is added to sum.
  void (*tanh_unit)(int n, float bias, float weight, float* z, float* sum);
  // The sum of (f - y)^2, f = sigma(logit), over n rows of data; where slope is not null, it
  // becomes factor (f - y) f (1 - f), and 0 up to the next multiple of 16.
  double (*squared_errors)(int n, const float* logit, const float* y, float factor, float* slope);
  // With such slopes, of up to 4096 rows, and t: t becomes weight * slope * (1 - t^2). Returns the
  // sums of that and of slope * t.
  UnitSlopes (*tanh_unit_slopes)(int n, float weight, const float* slope, float* t);
  // How propose_two_level decides about a coordinate at this level with this score, when all have
  // the same penalty.
  FlipRule (*flip_rule)(const TwoLevelLaw&, Symbol x, float score);
};

enum class Level { scalar, baseline, avx2, avx512 };

std::string_view name(Level level);
// The levels that this machine can run, scalar first, best last.
std::span<const Level> levels();
const Ops& ops(Level level);
// The level in use: the best one, or what the environment variable SALTUS_LEVEL names.
Level active_level();
inline const Ops& active() {
  return ops(active_level());
}

constexpr int kLanes = 16;  // lanes of the fixed summation order
constexpr int kGroup = 64;  // coordinates that share one set of random blocks

// Weights of one coordinate's levels, padded to 16, and their sums by 16.
inline std::size_t room_for_levels(const Domain& domain) {
  const auto levels = static_cast<std::size_t>(domain.max_levels());
  return levels + levels / kLanes + 2 * kLanes;
}

}  // namespace saltus::ops
