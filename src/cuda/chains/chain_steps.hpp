// The steps of one chain, by a team of threads: propose, then (the energy of all proposals having
// been evaluated in between) accept. Everything a step depends on is in device memory, so that one
// graph of launches serves for all steps, step sizes and temperatures.
#pragma once

#include "cuda/chains/row_law.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/sampler/metropolis.hpp"

namespace saltus::cuda {

// All chains: the states with log p and score, the proposals likewise. Rows of `levels.dim`.
struct ChainArrays {
  int chains;
  TwoLevels levels;
  float *x, *score, *y, *y_score;
  double *logp, *y_logp;
  double *base, *y_base;  // log p_0, on the way to the model
  double* log_q;          // of the way to the proposal
  std::uint32_t* changes;
  std::int32_t* site;       // of proposals that flip one
  std::uint8_t* nonfinite;  // the proposal's law was not finite

  SALTUS_BOTH std::ptrdiff_t row(int r) const {
    return static_cast<std::ptrdiff_t>(r) * levels.dim;
  }
};

// What a block of steps is about. Slots count its steps.
struct Control {
  std::uint64_t seed, step;  // of the first step of the next graph
  std::uint32_t first_chain, slot;

  const float* penalty;       // of the discrete Langevin proposal
  bool uniform_penalty;       //
  const std::int32_t* sites;  // Gibbs: of each slot; null: each chain draws its own

  // Records; null: none.
  StepInfo* info;              // of each slot and chain
  double* logp;                //
  Symbol* states;              // of each place and chain, rows of `stride`
  int stride;                  //
  const std::int32_t* places;  // of each slot; -1: states are not wanted

  // The way to the model; betas null: not on the way. Chains that stay at one beta have it twice.
  const double* betas;
  const double* base_slope;
  double base_of_low;  // log p_0 of the state that is low everywhere
  int steps_per_beta;
  double *log_weights, *acceptance;  // of each chain; null: not wanted

  SALTUS_BOTH std::uint32_t slot_of(int offset) const {
    return slot + static_cast<std::uint32_t>(offset);
  }
  SALTUS_BOTH Stream stream(int chain, int offset, Purpose purpose) const {
    return {seed, first_chain + static_cast<std::uint32_t>(chain),
            step + static_cast<std::uint64_t>(offset), purpose};
  }
  SALTUS_BOTH std::uint32_t move_of(int offset) const {
    return slot_of(offset) / static_cast<std::uint32_t>(steps_per_beta);
  }
  SALTUS_BOTH OnTheWay way(int offset) const {
    if (!betas) return {};
    return {base_slope, {betas[move_of(offset) + 1]}};
  }
  // log p_0, given the sum of the slopes over the upper coordinates.
  SALTUS_BOTH double log_base(const TwoLevels& levels, double slopes) const {
    return base_of_low + levels.spacing() * slopes;
  }
};

// Adds the weight of one move of beta.
inline SALTUS_BOTH void weigh(const ChainArrays& c, const Control& control, int r,
                              std::uint32_t move) {
  const Tempering before{control.betas[move]};
  control.log_weights[r] += before.log_weight(control.betas[move + 1], c.logp[r], c.base[r]);
}

// A move of beta comes before its first step.
template <class Team>
SALTUS_BOTH void weigh_before_step(const Team& team, const ChainArrays& c, const Control& control,
                                   int offset, int r) {
  if (!control.log_weights || team.rank() != 0) return;
  if (control.slot_of(offset) % static_cast<std::uint32_t>(control.steps_per_beta) == 0) {
    weigh(c, control, r, control.move_of(offset));
  }
}

inline SALTUS_BOTH StepInfo tested(double log_ratio, double u, std::uint32_t proposed) {
  StepInfo info{0, proposed, 0, false, false};
  metropolis(log_ratio, u, info);
  return info;
}

// `logp` is at the step's beta. Of x, every member must have brought coordinates i = rank, rank +
// size, ... up to date itself, or all of them before the team's last sum.
template <class Team>
SALTUS_BOTH void record(const Team& team, const ChainArrays& c, const Control& control, int offset,
                        int r, const StepInfo& info, double logp) {
  const std::uint32_t slot = control.slot_of(offset);
  const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(slot) * c.chains + r;
  if (team.rank() == 0) {
    if (control.info) control.info[place] = info;
    if (control.logp) control.logp[place] = logp;
    if (control.acceptance) control.acceptance[r] += info.acceptance;
  }
  if (!control.places || control.places[slot] < 0) return;
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(control.places[slot]) * c.chains + r;
  Symbol* out = control.states + to * control.stride;
  const float* x = c.x + c.row(r);
  for (int i = team.rank(); i < c.levels.dim; i += team.size()) out[i] = c.levels.upper(x[i]);
}

// What both ends of the test need is read before the team's last sum, after which the first member
// may write.
struct Ends {
  double here, there;  // log p at the step's beta
  double y_logp;
};
inline SALTUS_BOTH Ends ends_of(const ChainArrays& c, const OnTheWay& t, int r) {
  const double base = t.on() ? c.base[r] : 0, y_base = t.on() ? c.y_base[r] : 0;
  return {t.logp(c.logp[r], base), t.logp(c.y_logp[r], y_base), c.y_logp[r]};
}

template <class Team>
SALTUS_BOTH void settle(const Team& team, const ChainArrays& c, const Control& control, int offset,
                        int r, const StepInfo& info, const Ends& ends) {
  if (info.accepted) {
    for (int i = team.rank(); i < c.levels.dim; i += team.size()) {
      c.x[c.row(r) + i] = c.y[c.row(r) + i];
      c.score[c.row(r) + i] = c.y_score[c.row(r) + i];
    }
    if (team.rank() == 0) {
      c.logp[r] = ends.y_logp;
      if (control.betas) c.base[r] = c.y_base[r];
    }
  }
  record(team, c, control, offset, r, info, info.accepted ? ends.there : ends.here);
}

inline SALTUS_BOTH FlipLaw flip_law(const ChainArrays& c, const Control& control, int offset) {
  return {c.levels, control.way(offset), control.penalty, control.uniform_penalty};
}

template <class Team>
SALTUS_BOTH FlipProposal propose_to(const Team& team, const ChainArrays& c, const Control& control,
                                    int offset, int r, float* y) {
  return propose_flips(team, flip_law(c, control, offset),
                       control.stream(r, offset, Purpose::propose), c.x + c.row(r),
                       c.score + c.row(r), y + c.row(r));
}

// DMALA: needs log p and score.
template <class Team>
SALTUS_BOTH void propose_langevin(const Team& team, const ChainArrays& c, const Control& control,
                                  int offset, int r) {
  weigh_before_step(team, c, control, offset, r);
  const FlipProposal p = propose_to(team, c, control, offset, r, c.y);
  if (team.rank() != 0) return;
  c.log_q[r] = p.log_q;
  c.changes[r] = p.changes;
  if (control.betas) c.y_base[r] = control.log_base(c.levels, p.base_slope);
}

template <class Team>
SALTUS_BOTH void accept_langevin(const Team& team, const ChainArrays& c, const Control& control,
                                 int offset, int r) {
  const FlipLaw law = flip_law(c, control, offset);
  const Ends ends = ends_of(c, law.way, r);
  const double forward = c.log_q[r];
  const std::uint32_t changes = c.changes[r];
  const double backward =
      log_q_flips(team, law, c.y + c.row(r), c.y_score + c.row(r), c.x + c.row(r));
  const double u = control.stream(r, offset, Purpose::accept).uniform();
  settle(team, c, control, offset, r,
         tested(ends.there - ends.here + backward - forward, u, changes), ends);
}

template <class Team>
SALTUS_BOTH void record_langevin(const Team& team, const ChainArrays& c, const Control& control,
                                 int offset, int r) {
  const OnTheWay way = control.way(offset);
  record(team, c, control, offset, r, {1.0, c.changes[r], c.changes[r], true, c.nonfinite[r] != 0},
         way.logp(c.logp[r], way.on() ? c.base[r] : 0));
}

// DULA, in place: needs the score. Where log p is to be recorded, record_langevin must follow after
// the evaluation; otherwise `last` says that the step is over.
template <bool last, class Team>
SALTUS_BOTH void move_langevin(const Team& team, const ChainArrays& c, const Control& control,
                               int offset, int r) {
  const FlipProposal p = propose_to(team, c, control, offset, r, c.x);
  if (team.rank() == 0) {
    c.changes[r] = p.changes;
    c.nonfinite[r] = !p.finite;
    if (control.betas) c.base[r] = control.log_base(c.levels, p.base_slope);
  }
  if (!last) return;
  record(team, c, control, offset, r, {1.0, p.changes, p.changes, true, !p.finite}, NAN);
}

// y: the state with coordinate `site` flipped; the state itself where site is -1.
template <class Team>
SALTUS_BOTH void flip_one(const Team& team, const ChainArrays& c, const Control& control, int r,
                          int site) {
  const float* x = c.x + c.row(r);
  float* y = c.y + c.row(r);
  for (int i = team.rank(); i < c.levels.dim; i += team.size()) {
    y[i] = i == site ? c.levels.flipped(x[i]) : x[i];
  }
  const double slopes =
      control.betas ? sum_of_slopes(team, c.levels, control.base_slope, x, site) : 0;
  if (team.rank() != 0) return;
  c.site[r] = site;
  c.changes[r] = site >= 0;
  if (control.betas) c.y_base[r] = control.log_base(c.levels, slopes);
}

// Gibbs with gradients: needs log p and score.
template <class Team>
SALTUS_BOTH void propose_site(const Team& team, const ChainArrays& c, const Control& control,
                              int offset, int r) {
  weigh_before_step(team, c, control, offset, r);
  const SiteLaw law{c.levels, control.way(offset)};
  const float *x = c.x + c.row(r), *score = c.score + c.row(r);
  const SiteSums sums = weigh_sites(team, law, x, score);
  const double u = control.stream(r, offset, Purpose::propose).uniform();
  const int site = draw_site(team, law, sums, u, x, score);
  flip_one(team, c, control, r, site);
  if (team.rank() != 0) return;
  c.log_q[r] =
      site < 0 ? NAN
               : static_cast<double>(law.log_weight(site, x[site], score[site])) - sums.log_total();
}

template <class Team>
SALTUS_BOTH void accept_site(const Team& team, const ChainArrays& c, const Control& control,
                             int offset, int r) {
  const SiteLaw law{c.levels, control.way(offset)};
  const Ends ends = ends_of(c, law.way, r);
  const int site = c.site[r];
  const double forward = c.log_q[r];
  const float *y = c.y + c.row(r), *score = c.y_score + c.row(r);
  const SiteSums sums = weigh_sites(team, law, y, score);
  const double backward =
      site < 0 ? NAN
               : static_cast<double>(law.log_weight(site, y[site], score[site])) - sums.log_total();
  const double u = control.stream(r, offset, Purpose::accept).uniform();
  settle(team, c, control, offset, r,
         tested(ends.there - ends.here + backward - forward, u, site >= 0), ends);
}

// Gibbs, one coordinate: needs log p.
template <class Team>
SALTUS_BOTH void propose_gibbs(const Team& team, const ChainArrays& c, const Control& control,
                               int offset, int r) {
  weigh_before_step(team, c, control, offset, r);
  int site;
  if (control.sites) {
    site = control.sites[control.slot_of(offset)];
  } else {
    const double u = control.stream(r, offset, Purpose::scan).uniform();
    const double place = u * c.levels.dim;
    site = place < c.levels.dim - 1 ? static_cast<int>(place) : c.levels.dim - 1;
  }
  flip_one(team, c, control, r, site);
}

template <class Team>
SALTUS_BOTH void settle_gibbs(const Team& team, const ChainArrays& c, const Control& control,
                              int offset, int r) {
  const Ends ends = ends_of(c, control.way(offset), r);
  const double u = control.stream(r, offset, Purpose::level).uniform();
  const int chosen = draw_of_two(ends.here, ends.there, u);
  StepInfo info{1.0, 1, chosen == 1, true, false};
  if (chosen < 0) info = {0.0, 1, 0, false, true};
  const int site = c.site[r];
  if (chosen == 1 && team.rank() == site % team.size()) {
    c.x[c.row(r) + site] = c.y[c.row(r) + site];
  }
  double before[1] = {0};
  team.sum(before);  // all have read what the first member writes
  if (chosen == 1 && team.rank() == 0) {
    c.logp[r] = ends.y_logp;
    if (control.betas) c.base[r] = c.y_base[r];
  }
  record(team, c, control, offset, r, info, chosen == 1 ? ends.there : ends.here);
}

// log p_0 of the states.
template <class Team>
SALTUS_BOTH void start_way(const Team& team, const ChainArrays& c, const Control& control,
                           int /*offset*/, int r) {
  const double slopes = sum_of_slopes(team, c.levels, control.base_slope, c.x + c.row(r), -1);
  if (team.rank() == 0) c.base[r] = control.log_base(c.levels, slopes);
}

}  // namespace saltus::cuda
