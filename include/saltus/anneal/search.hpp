// Simulated annealing for the best state of a model. Restarts run side by side: each starts at
// random and takes one step of a sampler on b log p at each b of a schedule.
//
//   Search search(target, sampler, {.betas = geometric_schedule({0.1, 5}, 1000), .restarts = 100});
//   search.go();
//   ... search.found().logp, search.found().state
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "saltus/run/team.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct SearchPlan {
  std::vector<double> betas;  // above 0; one step at each
  int restarts = 100;
  std::uint32_t first_restart = 0;  // the name of the first, on which its random numbers depend
  Reduction* reduction = nullptr;   // joins this with parts that have other restarts, for tuning
  Team* team = nullptr;  // the same, where the others also make the same rounds: for a population
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a result
  // Population annealing (Hukushima & Iba 2003; Machta 2010): before each step the restarts are
  // resampled by the weights e^((b' - b) log p), b = 0 before the first.
  bool resample = false;
  bool trace = false;    // keep log p after every step
  bool in_lanes = true;  // spins with small whole couplings: 64 restarts to a vector, by gibbs
};

// What restarts have found so far, by place: restart first_restart + r of the plan is at place r.
struct Found {
  std::vector<double> logp;         // the largest; carried along, so that it may have drifted
  std::vector<std::uint64_t> step;  // after which it was found; 0: the start
  RowBuffer<Symbol> state;
  std::vector<double> last_logp;           // of the present states
  std::vector<std::vector<double>> trace;  // by place; see SearchPlan::trace
};

// A population at the last beta b that it has reached.
struct Population {
  double log_z = 0;  // of e^(b log p); the mean of e^log_z is exact
  int families = 0;  // restarts that have descendants left
  double rho_t = 1;  // restarts times the sum of squared shares of the families; 1 at best
};

// A state is better than another only if log p differs by more than rounding. Also whether a
// restart has reached a goal: not below it by more.
double logp_tolerance(double logp);

// What the restarts of a search share, however they are computed.
class SearchChains;

class Search {
 public:
  // The sampler is tuned on the way, where it can be. Throws UsageError when the plan makes no
  // sense, or when the target is one that cannot be searched.
  Search(const Target& target, std::shared_ptr<const Sampler> sampler, const SearchPlan& plan);
  ~Search();

  // Goes on to the end of the schedule, or until `between_rounds`, told how many steps are made,
  // returns false. True at the end. Throws DataError when a log p is not finite.
  using BetweenRounds = std::function<bool(std::size_t made, std::size_t all)>;
  bool go(const BetweenRounds& between_rounds = {});
  std::size_t made() const { return made_; }

  const Found& found() const { return found_; }
  Found take_found() { return std::move(found_); }
  const Sampler& sampler() const { return *sampler_; }  // as tuned so far
  bool in_lanes() const { return in_lanes_; }
  std::optional<Population> population() const;  // where the plan says to resample

 private:
  const Target& target_;
  std::shared_ptr<const Sampler> sampler_;
  SearchPlan plan_;
  Found found_;
  std::size_t made_ = 0;
  bool in_lanes_ = false;
  std::unique_ptr<SearchChains> chains_;
};

// Takes each state to one that no change of a coordinate improves, where `polish`, and computes its
// log p anew in double precision.
void finish_states(const Target& target, Found& found, bool polish, int threads = 0);

}  // namespace saltus
