// The two ways to compute the restarts of a search.
#pragma once

#include <memory>
#include <span>

#include "saltus/anneal/search.hpp"

namespace saltus {

class SearchChains {
 public:
  virtual ~SearchChains() = default;
  // The states at the start, with log p.
  virtual void start() = 0;
  // Takes a step at each of the betas; they stand at `first` and after it in the schedule.
  virtual void advance(std::span<const double> betas, std::size_t first) = 0;
  virtual std::shared_ptr<const Sampler> sampler() const = 0;
  virtual std::optional<Population> population() const { return std::nullopt; }
  // Steps after which it may be asked to stop.
  virtual std::size_t round() const = 0;
};

// Notes a state with its log p after step `step` (0: the start).
inline void note(Found& found, std::size_t place, double logp, std::uint64_t step,
                 std::span<const Symbol> state) {
  found.last_logp[place] = logp;
  if (step > 0 && !found.trace.empty()) found.trace[place].push_back(logp);
  if (step > 0 && !(logp > found.logp[place] + logp_tolerance(found.logp[place]))) return;
  found.logp[place] = logp;
  found.step[place] = step;
  std::copy(state.begin(), state.end(), found.state.view()[static_cast<int>(place)]);
}

// Any sampler on any target.
std::unique_ptr<SearchChains> make_engine_chains(const Target& target,
                                                 std::shared_ptr<const Sampler> sampler,
                                                 const SearchPlan& plan, Found& found);

// Gibbs sweeps of spins with small whole couplings, 64 restarts to a vector; null where sampler or
// target are others.
std::unique_ptr<SearchChains> make_spin_chains(const Target& target,
                                               std::shared_ptr<const Sampler> sampler,
                                               const SearchPlan& plan, Found& found);

}  // namespace saltus
