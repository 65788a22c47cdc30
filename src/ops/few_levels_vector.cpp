// Discrete Langevin proposal for coordinates with few candidate levels: sixteen coordinates side by
// side, a loop over the candidates. Compiled once per instruction set.
#include "ops/few_levels.hpp"

#include "ops/log_q.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// log q = -sum_i (top_i - logit of the level taken) - log prod_i (sum of weights relative to the
// top), with factors in [1, 16].
using LevelLogQ = LogQ<3>;

// kWidth coordinates from `at` on, `left` of them before the end of the row.
struct Lanes {
  Int x, inside;
  Float slope, penalty;     // ordered
  Float score[kFewLevels];  // categorical: by level, times the law's pull
  Float here;               // categorical: that of the current level
};

inline Int to_int(Half h) {
  return __builtin_convertvector(h, Int);
}

inline Lanes load_lanes(const LevelsLaw& law, int at, int left, const Symbol* x,
                        const float* score) {
  Lanes l{};
  l.x = to_int(load<Half>(x + at));
  l.inside = lanes_from_zero() < left;
  l.penalty = law.uniform ? splat(*law.penalty) : load<Float>(law.penalty + at);
  if (law.domain->kind() == Domain::Kind::ordered) {
    l.slope = l.inside ? load<Float>(score + at) * law.pull : Float{};
    return l;
  }
  const int levels = law.domain->uniform_levels(), lanes = left < kWidth ? left : kWidth;
  float by_level[kFewLevels][kWidth] = {};
  const float* row = score + static_cast<int64_t>(at) * levels;
  for (int j = 0; j < lanes; ++j) {
    for (int k = 0; k < levels; ++k) by_level[k][j] = row[j * levels + k];
  }
  for (int k = 0; k < levels; ++k) {
    l.score[k] = load<Float>(by_level[k]) * law.pull;
    l.here = l.x == k ? l.score[k] : l.here;
  }
  return l;
}

// Candidate c as a level, its logit, and whether it is one: another level, inside the domain.
struct Candidate {
  Int level, valid;
  Float logit;
};

inline Candidate candidate(const LevelsLaw& law, const Lanes& l, int c) {
  const Int step = law.window ? Int{} + (c - law.window) : c - l.x;
  const Int level = l.x + step;
  const Int valid = (step != 0) & (level >= 0) & (level < law.domain->uniform_levels()) & l.inside;
  if (law.domain->kind() == Domain::Kind::categorical) {
    return {level, valid, l.score[c] - l.here - l.penalty};
  }
  const Float d = __builtin_convertvector(step, Float);
  return {level, valid, l.slope * d - l.penalty * d * d};
}

// Weights relative to the largest; the logit of staying is zero.
struct Weights {
  Float weight[kFewLevels], stay, sum, top;
  Int not_a_number;
};

inline Weights weigh(const LevelsLaw& law, const Lanes& l) {
  Weights w;
  const int count = candidates(law);
  w.top = Float{};
  w.not_a_number = Int{};
  for (int c = 0; c < count; ++c) {
    const Candidate k = candidate(law, l, c);
    w.weight[c] = k.logit;
    w.not_a_number |= k.valid & (k.logit != k.logit);
    w.top = (k.valid & (k.logit > w.top)) ? k.logit : w.top;
  }
  w.sum = Float{};
  for (int c = 0; c < count; ++c) {
    const Float e = exp_minus(w.top - w.weight[c]);
    w.weight[c] = candidate(law, l, c).valid ? e : Float{};
    w.sum += w.weight[c];
  }
  w.stay = exp_minus(w.top);
  w.sum += w.stay;
  w.not_a_number |= w.sum != w.sum;  // an infinite score
  return w;
}

// The level at which the running sum passes `point`: the others in order, staying last, so that
// small probabilities of a move keep their digits. Rounding at the end falls back to the last
// possible one.
inline Int choose(const LevelsLaw& law, const Lanes& l, const Weights& w, Float point,
                  Float& logit) {
  Int level = l.x;
  Float below{};
  logit = Float{};
  const int count = candidates(law);
  for (int c = 0; c < count; ++c) {
    const Candidate k = candidate(law, l, c);
    const Int take = (below <= point) & (w.weight[c] > 0.0f);
    level = take ? k.level : level;
    logit = take ? k.logit : logit;
    below += w.weight[c];
  }
  const Int stays = (below <= point) & (w.stay > 0.0f);
  level = stays ? l.x : level;
  logit = stays ? Float{} : logit;
  return level;
}

}  // namespace

Proposed propose_few_levels(const LevelsLaw& law, const Symbol* x, const float* score, Symbol* y,
                            const Stream& stream, bool want_log_q) {
  Proposed out;
  LevelLogQ log_q;
  Int changes{}, bad{};
  const int n = law.domain->dim();
  for (int begin = 0; begin < n; begin += kGroup) {
    for (int part = 0; part < kParts; ++part) {
      Word random[4];
      philox((Word)lanes_from_zero() + static_cast<uint32_t>(begin / 4 + part * kWidth), stream,
             random);
      for (int w = 0; w < 4; ++w) {
        const int at = begin + 16 * w + part * kWidth;
        if (at >= n) break;
        const Lanes lanes = load_lanes(law, at, n - at, x, score);
        const Weights weights = weigh(law, lanes);
        const Float u = (__builtin_convertvector((Int)(random[w] >> 1), Float) + 0.5f) * 0x1p-31f;
        Float logit;
        const Int level = choose(law, lanes, weights, u * weights.sum, logit);
        store(y + at, __builtin_convertvector(level, Half));
        changes -= level != lanes.x;
        bad |= weights.not_a_number;
        log_q.add(part, weights.top - logit, weights.sum);
      }
    }
    log_q.end_group();
  }
  for (int j = 0; j < kWidth; ++j) {
    out.changes += static_cast<uint32_t>(changes[j]);
    out.finite = out.finite && bad[j] == 0;
  }
  out.log_q = !out.finite ? __builtin_nan("") : want_log_q ? log_q.total() : 0.0;
  return out;
}

double log_q_few_levels(const LevelsLaw& law, const Symbol* from, const float* score,
                        const Symbol* to) {
  LevelLogQ log_q;
  const int n = law.domain->dim(), count = candidates(law);
  for (int begin = 0; begin < n; begin += kGroup) {
    for (int part = 0; part < kParts; ++part) {
      for (int w = 0; w < 4; ++w) {
        const int at = begin + 16 * w + part * kWidth;
        if (at >= n) break;
        const Lanes lanes = load_lanes(law, at, n - at, from, score);
        const Weights weights = weigh(law, lanes);
        const Int level = to_int(load<Half>(to + at));
        Float logit = level == lanes.x || !lanes.inside ? Float{} : splat(-__builtin_inff());
        for (int c = 0; c < count; ++c) {
          const Candidate k = candidate(law, lanes, c);
          logit = (k.valid & (k.level == level)) ? k.logit : logit;
        }
        log_q.add(part, weights.top - logit, weights.sum);
      }
    }
    log_q.end_group();
  }
  return log_q.total();
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
