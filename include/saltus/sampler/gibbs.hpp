// Gibbs sampling: blocks of coordinates, each drawn from its exact conditional distribution.
#pragma once

#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct GibbsOptions {
  int block = 1;  // coordinates drawn together
  enum class Scan {
    permutation,  // passes over all coordinates, each in its own random order
    systematic,   // passes in the order 0, 1, 2, ...
    random,       // a block drawn at random for every chain and update
    colours,      // groups of coordinates that do not interact, one group after the other
  } scan = Scan::permutation;
  int updates = 1;  // of a block, in one step; 0: a sweep, as many as a pass has blocks
};

class Gibbs final : public Sampler, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this target.
  Gibbs(const Target& target, GibbsOptions options);

  std::string name() const override { return "gibbs"; }
  std::vector<Parameter> parameters() const override;
  bool exact() const override { return true; }
  // One block's draw is, and so is any power of a mixture of such draws.
  bool reversible() const override {
    return updates_ == 1 || options_.scan == GibbsOptions::Scan::random;
  }
  std::string missing(const Target& target) const override;
  Needs needs(const Target& target) const override;
  bool accumulates_rounding(const Target& target) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  int phases(const Domain& domain) const override;
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

  const GibbsOptions& options() const { return options_; }
  int updates() const { return updates_; }  // of a step

 private:
  bool by_colours() const { return options_.scan == GibbsOptions::Scan::colours; }
  const GibbsSweeps* sweeps_of(const Target& target) const;
  std::uint64_t first_update(std::uint64_t step) const {
    return step * static_cast<std::uint64_t>(updates_);
  }
  std::vector<std::vector<std::vector<std::int32_t>>> blocks_of(const Target& target,
                                                                const When& when) const;
  void sweep(const Target& target, const GibbsSweeps& sweeps, Tile& tile, Workspace& work,
             std::span<StepInfo> info) const;

  GibbsOptions options_;
  int updates_;                        // of a step
  int largest_ = 0;                    // combinations of levels that a block can have
  std::vector<std::int32_t> colours_;  // the coordinates, group by group
};

}  // namespace saltus
