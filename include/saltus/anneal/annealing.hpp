// Chains that are annealed from one end of a path of distributions to the other, with the
// logarithms of their importance weights.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/run/reduction.hpp"
#include "saltus/run/team.hpp"
#include "saltus/target/tempered.hpp"

namespace saltus {

// 0, 1/(count-1), ..., 1. Throws UsageError when count < 2.
std::vector<double> linear_betas(int count);

// Throws UsageError unless betas increase strictly from 0 to 1.
void check_betas(const std::vector<double>& betas);

struct AnnealingPlan {
  std::vector<double> betas = linear_betas(1000);  // strictly increasing, from 0 to 1
  int steps_per_beta = 1;
  int chains = 100;
  std::uint32_t first_chain = 0;   // the name of the first, on which its weight depends
  Reduction* reduction = nullptr;  // joins this with parts that have other chains, for tuning
  Team* team = nullptr;            // the same, as in RunPlan
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a weight
  int tile = 0;     // chains advanced together; 0: what the model prefers
};

// Throws UsageError when the plan makes no sense.
void check_plan(const AnnealingPlan& plan);

class Annealing {
 public:
  enum class Direction { forward, reverse };

  // The sampler must have been made for such a path and outlive this. Throws UsageError when it
  // cannot serve, or when the plan makes no sense.
  Annealing(const Tempered& path, const Sampler& sampler, const AnnealingPlan& plan,
            Direction direction);

  // Starts all chains from draws of the base, as the forward direction needs; or from the given
  // states, as the reverse one does. Throws DataError when a state does not fit.
  void start();
  void start(Rows<const Symbol> states);

  // Runs to the end of the path, or until `between_rounds`, given how many of the path's moves
  // are made, returns false. True at the end. Throws DataError when a log p is not finite.
  bool go(const std::function<bool(std::size_t made, std::size_t all)>& between_rounds = {});

  const Symbol* state(int chain) const { return ensemble_.state(chain); }
  std::span<const double> log_weights() const { return log_weights_; }
  // Mean over the transitions so far, of the chains of this part; or of all parts, in the order of
  // the chains, where they ask for it together.
  double acceptance(Reduction* reduction = nullptr) const;

  // All that is needed to go on, between rounds.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  void begin();

  const Sampler& sampler_;
  AnnealingPlan plan_;
  std::vector<double> betas_;                     // in the order of the direction
  std::size_t made_ = 0;                          // moves
  std::vector<double> log_weights_, acceptance_;  // by chain
  Ensemble ensemble_;
};

// Throws UsageError when a sampler's transitions cannot serve annealed importance sampling.
void check_annealing(const Sampler& sampler, const Target& target);

}  // namespace saltus
