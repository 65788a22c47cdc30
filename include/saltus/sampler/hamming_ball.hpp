// The Hamming ball sampler: Titsias & Yau, "The Hamming ball sampler", JASA 2017.
//
// A step takes the next `block` coordinates of a pass in random order, moves to a state u drawn
// uniformly from the states that differ from x in at most `radius` of them, and from there to a
// state drawn from the target restricted to those that differ from u in at most `radius` of them.
// Both are Gibbs updates of the joint law of x and u, pi(x) Uniform(u in ball(x)).
#pragma once

#include "saltus/sampler/sampler.hpp"

namespace saltus {

class HammingBall final : public Sampler, public Enumerable {
 public:
  // Throws UsageError when a ball has too many states.
  HammingBall(const Domain& domain, int block = 10, int radius = 1);

  std::string name() const override { return "hamming_ball"; }
  std::vector<Parameter> parameters() const override;
  bool exact() const override { return true; }
  bool reversible() const override { return true; }  // every step's kernel is
  std::string missing(const Target& target) const override;
  Needs needs(const Target& target) const override;
  bool accumulates_rounding(const Target& target) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  int phases(const Domain& domain) const override;
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

 private:
  int block_, radius_;
  int largest_ = 0;  // states of a ball
};

}  // namespace saltus
