// The laws of proposals for one row of two-level coordinates, by a team of threads. What they
// compute is what src/ops and src/sampler compute on the host, up to rounding.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/flip_law.hpp"
#include "cuda/chains/team.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/core/tempering.hpp"

namespace saltus::cuda {

// The temperature of a step on the way from independent coordinates p_0 to the model. What is
// stored is always the model's own.
struct OnTheWay {
  const double* base_slope = nullptr;  // the score of log p_0; null: there is no way, beta is 1
  Tempering at;

  SALTUS_BOTH bool on() const { return base_slope != nullptr; }
  SALTUS_BOTH double logp(double model, double base) const {
    return on() ? at.logp(model, base) : model;
  }
  SALTUS_BOTH double score(int i, float model) const {
    const auto own = static_cast<double>(model);
    return on() ? at.score(own, base_slope[i]) : own;
  }
};

// Coordinates with the values `low` and `high`.
struct TwoLevels {
  int dim;
  float low, high;

  SALTUS_BOTH bool upper(float v) const { return v == high; }
  SALTUS_BOTH float flipped(float v) const { return v == high ? low : high; }
  SALTUS_BOTH double spacing() const {
    return static_cast<double>(high) - static_cast<double>(low);
  }
};

// The discrete Langevin proposal: penalty one number, or one for each coordinate.
struct FlipLaw {
  TwoLevels levels;
  OnTheWay way;
  const float* penalty;
  bool uniform;

  SALTUS_BOTH double logit(int i, float v, float score) const {
    return flip_logit(levels.spacing() / 2, levels.upper(v), way.score(i, score),
                      static_cast<double>(penalty[uniform ? 0 : i]));
  }
};

struct FlipProposal {
  double log_q;       // of the proposal
  double base_slope;  // sum of the base's slopes over the upper coordinates
  std::uint32_t changes;
  bool finite;
};

// See propose_two_level in src/ops/two_level_scalar.cpp. y may be v.
template <class Team>
SALTUS_BOTH FlipProposal propose_flips(const Team& team, const FlipLaw& law, const Stream& stream,
                                       const float* v, const float* score, float* y) {
  double sums[4] = {0, 0, 0, 0};  // log q, slopes, changes, NaN
  for (int b = team.rank(); b < Stream::blocks_for(law.levels.dim); b += team.size()) {
    const PhiloxBlock words = stream.block(static_cast<std::uint32_t>(b));
    for (int w = 0; w < 4; ++w) {
      const int i = Stream::first_coordinate(b) + 16 * w;
      if (i >= law.levels.dim) break;
      const double l = law.logit(i, v[i], score[i]);
      const bool flip = flips(l, words.words[w]);
      const float to = flip ? law.levels.flipped(v[i]) : v[i];
      y[i] = to;
      sums[0] += log_q_of(l, flip);
      if (law.way.on() && law.levels.upper(to)) sums[1] += law.way.base_slope[i];
      sums[2] += flip;
      sums[3] += l != l;
    }
  }
  team.sum(sums);
  return {sums[0], sums[1], static_cast<std::uint32_t>(sums[2]), sums[3] == 0};
}

// The sum of the base's slopes over the upper coordinates of v with `site` flipped (-1: none), in
// the order of propose_flips: a function of the state, whichever way led there.
template <class Team>
SALTUS_BOTH double sum_of_slopes(const Team& team, const TwoLevels& levels, const double* slopes,
                                 const float* v, int site) {
  double sum[1] = {0};
  for (int b = team.rank(); b < Stream::blocks_for(levels.dim); b += team.size()) {
    for (int w = 0; w < 4; ++w) {
      const int i = Stream::first_coordinate(b) + 16 * w;
      if (i >= levels.dim) break;
      if (levels.upper(v[i]) != (i == site)) sum[0] += slopes[i];
    }
  }
  team.sum(sum);
  return sum[0];
}

// log q(to | from)
template <class Team>
SALTUS_BOTH double log_q_flips(const Team& team, const FlipLaw& law, const float* from,
                               const float* score, const float* to) {
  double sum[1] = {0};
  for (int i = team.rank(); i < law.levels.dim; i += team.size()) {
    sum[0] += log_q_of(law.logit(i, from[i], score[i]), from[i] != to[i]);
  }
  team.sum(sum);
  return sum[0];
}

// Gibbs with gradients, one flip, balanced by the square root: site i is chosen with probability
// proportional to exp(d_i / 2), d_i the change of log p that the score promises for a flip.
struct SiteLaw {
  TwoLevels levels;
  OnTheWay way;

  SALTUS_BOTH float log_weight(int i, float v, float score) const {
    const double d = way.score(i, score) * levels.spacing();
    return static_cast<float>((levels.upper(v) ? -d : d) / 2);
  }
};

// Weights relative to the largest: those of this member's coordinates begin .. end - 1, and of all.
struct SiteSums {
  int begin, end;
  float top;
  double own, total;
  SALTUS_BOTH double log_total() const { return static_cast<double>(top) + log(total); }
};

template <class Team>
SALTUS_BOTH SiteSums weigh_sites(const Team& team, const SiteLaw& law, const float* v,
                                 const float* score) {
  const int dim = law.levels.dim, share = (dim + team.size() - 1) / team.size();
  SiteSums s;
  s.begin = team.rank() * share < dim ? team.rank() * share : dim;
  s.end = s.begin + share < dim ? s.begin + share : dim;
  float top = -HUGE_VALF;
  for (int i = s.begin; i < s.end; ++i) top = fmaxf(top, law.log_weight(i, v[i], score[i]));
  s.top = team.max(top);
  s.own = 0;
  for (int i = s.begin; i < s.end; ++i) {
    s.own +=
        exp(static_cast<double>(law.log_weight(i, v[i], score[i])) - static_cast<double>(s.top));
  }
  double total[1] = {s.own};
  team.sum(total);
  s.total = total[0];
  return s;
}

// The site where the sum of the weights passes u times their total; -1 when there is nothing to
// choose. The member whose part of the sum holds this place finds the site.
template <class Team>
SALTUS_BOTH int draw_site(const Team& team, const SiteLaw& law, const SiteSums& sums, double u,
                          const float* v, const float* score) {
  if (!(sums.total > 0 && sums.total <= 1.7976931348623157e308)) return -1;
  const double target = u * sums.total;
  double up_to;
  const double before = team.before(sums.own, up_to);
  const bool some = sums.own > 0;
  int holder = team.min(some && target < up_to ? team.rank() : team.size());
  // Rounding led past the end: the last one that has any.
  if (holder == team.size()) holder = -team.min(some ? -team.rank() : 0);
  int site = -1;
  if (team.rank() == holder) {
    double left = target - before;
    for (int i = sums.begin; i < sums.end; ++i) {
      const double w = exp(static_cast<double>(law.log_weight(i, v[i], score[i])) -
                           static_cast<double>(sums.top));
      if (!(w > 0)) continue;
      site = i;
      if (left < w) break;
      left -= w;
    }
  }
  return team.share(site, holder);
}

// The index drawn from two log weights by inversion, as in
// src/sampler/gibbs/hamming_ball_draw.cpp; -1
// when these are no probabilities.
inline SALTUS_BOTH int draw_of_two(double first, double second, double u) {
  double top = -HUGE_VAL;
  top = first > top ? first : top;
  top = second > top ? second : top;
  const double w0 = exp(first - top), w1 = exp(second - top), sum = w0 + w1;
  if (!(fabs(top) <= 1.7976931348623157e308) || !(sum <= 2)) return -1;
  if (w1 == 0) return 0;
  return w0 != 0 && u * sum < w0 ? 0 : 1;
}

}  // namespace saltus::cuda
