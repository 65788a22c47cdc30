// locally_balanced under sum = k: a one and a zero exchange their places, chosen among all pairs by
// g(exp(d)), d being the exact change of log p and g a balancing function.
#pragma once

#include "saltus/sampler/balancing.hpp"
#include "saltus/sampler/sampler.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

class ExactSwaps final : public Sampler, public Enumerable {
 public:
  ExactSwaps(Constraint constraint, Balancing balancing)
      : constraint_(std::move(constraint)), balancing_(balancing) {}

  std::string name() const override { return "locally_balanced"; }
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
  // All pairs of a one and a zero, with the sum of their weights.
  struct Pairs {
    std::span<const std::int32_t> on, off;
    std::span<const double> weights;  // relative to exp(top)
    double sum, top;
    double log_total() const;
  };
  Pairs pairs(const Target& target, const Tile& tile, int r, Workspace& work,
              std::uint64_t step) const;

  Constraint constraint_;
  Balancing balancing_;
};

}  // namespace saltus
