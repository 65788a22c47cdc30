// gibbs under a range of the sum, a parity, or one-hot groups with other coordinates beside them:
// two coordinates chosen at random take new levels together, drawn from their law given the others
// among those that the constraint allows. The two are of the same group under one-hot, and a
// coordinate outside of all groups is drawn alone. Never rejects.
#pragma once

#include <array>

#include "saltus/sampler/sampler.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

class PairGibbs final : public Sampler, public Enumerable {
 public:
  // `updates` in each step; 0: half as many as there are coordinates.
  PairGibbs(Constraint constraint, int updates);

  std::string name() const override { return "gibbs"; }
  std::vector<Parameter> parameters() const override;
  bool reversible() const override { return true; }
  bool keeps_constraint() const override { return true; }
  std::string missing(const Target& target) const override;
  Needs needs(const Target& target) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

 private:
  // What may become of a pair, in this order: it stays, the first flips, the second, both.
  using Changes = std::array<double, 4>;
  // 0 where the constraint allows the change of x, which has so many ones, minus infinity
  // elsewhere. i = j: one coordinate alone.
  Changes allowed(const Symbol* x, int ones, int i, int j) const;
  // Adds the change of log p to those that are allowed.
  void add_differences(const Target& target, Workspace& work, const LocalRow& row,
                       std::uint64_t step, int i, int j, Changes& changes) const;

  Constraint constraint_;
  int updates_;
};

}  // namespace saltus
