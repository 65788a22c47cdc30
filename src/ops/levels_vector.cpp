// Discrete Langevin proposal for coordinates with any number of levels, in lanes over the levels.
// Compiled once per instruction set.
#include "ops/few_levels.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

extern "C" double log(double);

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();

// Logits of candidates first..last at level x, padded with minus infinity.
inline void write_logits(const LevelsLaw& law, int i, int x, const float* score, LevelRange range,
                         float* logit, int padded) {
  const float penalty = law.penalty[law.uniform ? 0 : i];
  const int count = range.last - range.first + 1;
  if (law.domain->kind() == Domain::Kind::ordered) {
    const float slope = law.pull * score[i];
    for (int c = 0; c < count; ++c) {
      const float step = static_cast<float>(range.first + c - x);
      logit[c] = slope * step - penalty * step * step;
    }
    logit[x - range.first] = 0.0f;  // also when the penalty is infinite
  } else {
    const float* of_level = score + law.domain->score_begin(i);
    const float here = of_level[x], pull = law.pull;
    for (int c = 0; c < count; ++c) logit[c] = (of_level[c] - here) * pull - penalty;
    logit[x] = 0.0f;  // categorical candidates are all levels
  }
  for (int c = count; c < padded; ++c) logit[c] = kMinusInfinity;
}

inline float largest(const float* logit, int padded) {
  Float top[kParts];
  for (int p = 0; p < kParts; ++p) top[p] = splat(kMinusInfinity);
  for (int c = 0; c < padded; c += kLanes) {
    for (int p = 0; p < kParts; ++p) {
      const Float v = load<Float>(logit + c + p * kWidth);
      top[p] = v > top[p] || v != v ? v : top[p];
    }
  }
  float best = kMinusInfinity;
  for (int p = 0; p < kParts; ++p) {
    for (int j = 0; j < kWidth; ++j)
      best = top[p][j] > best || top[p][j] != top[p][j] ? top[p][j] : best;
  }
  return best;
}

inline float sum_of_16(const float* v) {
  float half[8];
  for (int j = 0; j < 8; ++j) half[j] = v[j] + v[j + 8];
  for (int j = 0; j < 4; ++j) half[j] += half[j + 4];
  return (half[0] + half[2]) + (half[1] + half[3]);
}

// Turns logits into weights in place and sums them, 16 at a time, into `block_sum`.
inline double exponentiate(float* logit, int padded, float top, float* block_sum) {
  double total = 0;
  for (int c = 0, b = 0; c < padded; c += kLanes, ++b) {
    for (int p = 0; p < kParts; ++p) {
      store(logit + c + p * kWidth, exp_minus(top - load<Float>(logit + c + p * kWidth)));
    }
    block_sum[b] = sum_of_16(logit + c);
    total += static_cast<double>(block_sum[b]);
  }
  return total;
}

// The candidate at which the running sum of weights passes `point`.
inline int choose(const float* weight, const float* block_sum, int count, double point) {
  const int blocks = (count + kLanes - 1) / kLanes;
  int b = 0;
  for (; b + 1 < blocks && point >= static_cast<double>(block_sum[b]); ++b) {
    point -= static_cast<double>(block_sum[b]);
  }
  const int end = (b + 1) * kLanes < count ? (b + 1) * kLanes : count;
  int best = -1;  // the last candidate of the block with any weight: rounding may overshoot
  for (int c = b * kLanes; c < end; ++c) {
    if (weight[c] == 0.0f) continue;
    best = c;
    point -= static_cast<double>(weight[c]);
    if (point < 0) break;
  }
  // An all-zero last block can be reached by rounding alone; step back to a possible candidate.
  for (int c = b * kLanes - 1; best < 0; --c) best = weight[c] != 0.0f ? c : -1;
  return best;
}

inline void random_words(const Stream& stream, int group, uint32_t* words) {
  for (int part = 0; part < kParts; ++part) {
    Word out[4];
    philox((Word)lanes_from_zero() + static_cast<uint32_t>(group * 16 + part * kWidth), stream,
           out);
    for (int w = 0; w < 4; ++w) store(words + 16 * w + part * kWidth, out[w]);
  }
}

inline float logit_of(const LevelsLaw& law, int i, int x, const float* score, int k) {
  const float penalty = law.penalty[law.uniform ? 0 : i];
  const float step = static_cast<float>(k - x);
  if (k == x) return 0.0f;
  if (law.domain->kind() == Domain::Kind::ordered) {
    const float slope = law.pull * score[i];
    return slope * step - penalty * step * step;
  }
  const float* of_level = score + law.domain->score_begin(i);
  return (of_level[k] - of_level[x]) * law.pull - penalty;
}

// One coordinate's proposal: weights exp(logit - top) of the other levels in `room`, their sums by
// 16, and apart from them the weight of staying, whose logit is zero.
struct Row {
  float top;
  double others, stay;
  int first, count;
  float* block_sum;
  double sum() const { return others + stay; }
};

inline Row weigh(const LevelsLaw& law, int i, int x, const float* score, float* room) {
  const LevelRange range = candidate_levels(law, i, x);
  const int count = range.last - range.first + 1;
  const int padded = (count + kLanes - 1) / kLanes * kLanes;
  write_logits(law, i, x, score, range, room, padded);
  const float top = largest(room, padded);
  float* block_sum = room + padded;
  room[x - range.first] = kMinusInfinity;
  const double others = exponentiate(room, padded, top, block_sum);
  const double stay = static_cast<double>(exp_minus(splat(top))[0]);
  return {top, others, stay, range.first, count, block_sum};
}

// The others in order, staying last, so that small probabilities of a move keep their digits.
inline int draw_level(const Row& row, const float* weight, int x, double u) {
  const double point = u * row.sum();
  if (point >= row.others) return x;
  return row.first + choose(weight, row.block_sum, row.count, point);
}

}  // namespace

Proposed propose_levels(const LevelsLaw& law, const Symbol* x, const float* score, Symbol* y,
                        const Stream& stream, bool want_log_q, float* room) {
  if (has_few_levels(law)) return propose_few_levels(law, x, score, y, stream, want_log_q);
  Proposed out;
  uint32_t words[kGroup];
  for (int i = 0; i < law.domain->dim(); ++i) {
    if (i % kGroup == 0) random_words(stream, i / kGroup, words);
    const Row row = weigh(law, i, x[i], score, room);
    if (!(row.sum() >= 0.99)) {  // a logit is not a number
      y[i] = x[i];
      out.finite = false;
      out.log_q = __builtin_nan("");
      continue;
    }
    const double u = ((words[i % kGroup] >> 1) + 0.5) * 0x1p-31;
    const int k = draw_level(row, room, x[i], u);
    y[i] = static_cast<Symbol>(k);
    out.changes += k != x[i];
    if (want_log_q) {
      out.log_q += static_cast<double>(logit_of(law, i, x[i], score, k)) -
                   static_cast<double>(row.top) - log(row.sum());
    }
  }
  return out;
}

double log_q_levels(const LevelsLaw& law, const Symbol* from, const float* score, const Symbol* to,
                    float* room) {
  if (has_few_levels(law)) return log_q_few_levels(law, from, score, to);
  double log_q = 0;
  for (int i = 0; i < law.domain->dim(); ++i) {
    const Row row = weigh(law, i, from[i], score, room);
    log_q += static_cast<double>(logit_of(law, i, from[i], score, to[i])) -
             static_cast<double>(row.top) - log(row.sum());
  }
  return log_q;
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
