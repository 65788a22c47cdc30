// gibbs under a constraint. sum = k: a one chosen at random is taken away, and put where the exact
// conditional law puts it. One-hot: so it is with the one of a group chosen at random. Never
// rejects.
#pragma once

#include <optional>

#include "saltus/sampler/sampler.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

class RemoveAdd final : public Sampler, public Enumerable {
 public:
  // `updates` in each step; 0: as many as there are ones, or fewer where a step would be long.
  RemoveAdd(Constraint constraint, int updates);

  static bool serves(const Constraint& constraint);

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
  int units() const;  // one of which is chosen for an update
  // The coordinate that unit `unit` of x takes to 0, and the places where a one may go instead.
  int places_of(const Symbol* x, int unit, std::span<std::int32_t> places, int& count) const;

  Constraint constraint_;
  int updates_;
};

}  // namespace saltus
