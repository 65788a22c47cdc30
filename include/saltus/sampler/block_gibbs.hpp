// Block Gibbs sampling of a model with hidden units: all hidden units given the coordinates, then
// all coordinates given the hidden units. For a restricted Boltzmann machine
//
//   h | x ~ Bernoulli(sigma(W x + c)),   x' | h ~ Bernoulli(sigma(W' h + b)).
#pragma once

#include "saltus/sampler/sampler.hpp"

namespace saltus {

class BlockGibbs final : public Sampler, public Enumerable {
 public:
  static constexpr int kMostEnumerated = 16;  // hidden units of an exact transition matrix

  std::string name() const override { return "block_gibbs"; }
  std::vector<Parameter> parameters() const override { return {}; }
  std::string missing(const Target& target) const override;
  bool exact() const override { return true; }
  // p(x) T(x, x') = sum_h p(x, h) p(x', h) / p(h) is symmetric.
  bool reversible() const override { return true; }

  Needs needs(const Target&) const override { return {false, false, false}; }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  // Throws UsageError for a target with more than kMostEnumerated hidden units.
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;
};

}  // namespace saltus
