// A proposal of locally informed samplers, for one chain: sites drawn by weight, each changed to
// another level drawn from the site's own weights w_ik / W_i.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/core/philox.hpp"
#include "sampler/informed/level_weights.hpp"
#include "sampler/informed/site_weights.hpp"

namespace saltus {

struct ChosenSite {
  std::int32_t site;
  float hidden;  // for a choice that hides the weight of a site it has chosen
};

// How sites are chosen: what distinguishes one such sampler from the other.
class SiteChoice {
 public:
  virtual ~SiteChoice() = default;
  // The most sites that a step chooses, and how many this one does.
  virtual int most() const = 0;
  virtual int count(const Stream& stream) const = 0;
  // Draws sites.size() sites, which may repeat, and returns log q of the list; not a finite number
  // when there is nothing to choose. On return the weights are as before.
  virtual double draw(SiteWeights& weights, const Stream& stream,
                      std::span<ChosenSite> sites) const = 0;
  // log q of the list that leads back, under the weights of the other end.
  virtual double log_back(SiteWeights& weights, std::span<ChosenSite> sites) const = 0;
};

struct SiteChange {
  std::int32_t site;
  Symbol from, to;
};

struct FlipProposal {
  std::span<ChosenSite> sites;    // as they were drawn
  std::span<SiteChange> changes;  // of the distinct ones among them, in increasing order
  double log_forward = 0;
};

// The level that coordinate i changes to, given u uniform on (0, 1); adds the log of its
// probability to log_q. `differences(i, range, out)` gives the differences of log p.
template <class Differences>
Symbol draw_level(const LevelWeights& levels, int i, Symbol now, double u, double* room,
                  Differences&& differences, double& log_q) {
  const LevelWeights::Range range = levels.range(i, now);
  if (range.count == 2) return static_cast<Symbol>(range.first == now ? now + 1 : range.first);
  differences(i, range, room);
  const double total = levels.weigh(range, now, room);
  int chosen = 0;
  for (int m = 0; m < range.count; ++m) {
    const double p = std::exp(room[m] - total);
    if (!(p > 0)) continue;
    chosen = m;
    if (u < p) break;
    u -= p;
  }
  log_q += room[chosen] - total;
  return static_cast<Symbol>(range.first + chosen);
}

// The log of the probability with which coordinate i, if it changes, changes from `now` to `to`.
template <class Differences>
double log_level(const LevelWeights& levels, int i, Symbol now, Symbol to, double* room,
                 Differences&& differences) {
  const LevelWeights::Range range = levels.range(i, now);
  if (range.count == 2) return 0;
  differences(i, range, room);
  const double total = levels.weigh(range, now, room);
  return room[to - range.first] - total;
}

// The distinct sites of the list, each with a new level.
template <class Differences>
void change_sites(const LevelWeights& levels, const Symbol* x, const Stream& stream, double* room,
                  FlipProposal& proposal, Differences&& differences) {
  SiteChange* end = proposal.changes.data();
  for (const ChosenSite& s : proposal.sites) *end++ = {s.site, x[s.site], x[s.site]};
  const auto by_site = [](const SiteChange& a, const SiteChange& b) { return a.site < b.site; };
  if (proposal.sites.size() > 1) {
    std::sort(proposal.changes.data(), end, by_site);
    end = std::unique(proposal.changes.data(), end,
                      [](const SiteChange& a, const SiteChange& b) { return a.site == b.site; });
  }
  proposal.changes = {proposal.changes.data(), end};
  std::uint32_t k = 0;
  for (SiteChange& c : proposal.changes) {
    const double u = levels.domain().two_level() ? 0.5 : stream.uniform(k++);
    c.to = draw_level(levels, c.site, c.from, u, room, differences, proposal.log_forward);
  }
}

// log q of the way back. `differences` are those at the other end.
template <class Differences>
double log_backward(const SiteChoice& choice, const LevelWeights& levels, SiteWeights& weights,
                    const FlipProposal& proposal, double* room, Differences&& differences) {
  double log_q = choice.log_back(weights, proposal.sites);
  for (const SiteChange& c : proposal.changes) {
    log_q += log_level(levels, c.site, c.to, c.from, room, differences);
  }
  return log_q;
}

}  // namespace saltus
