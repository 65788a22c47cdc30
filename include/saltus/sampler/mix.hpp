// One of several samplers at random: at every step each chain draws a part with probability
// proportional to its weight, by a random number of its own (Purpose::part). The transition matrix
// is the weighted sum of the parts', and a mix of reversible samplers is reversible.
//
// Chains of a tile take different parts, so that the tile falls apart into short runs of rows. On
// models that are evaluated by matrix products a Sequence is faster.
#pragma once

#include "saltus/sampler/composed.hpp"

namespace saltus {

class Mix final : public Composed {
 public:
  // One positive weight for each part. Throws UsageError; see Composed.
  Mix(Parts parts, std::vector<double> weights);

  std::string name() const override;  // "mix of dmala, gwg"
  std::string own_key() const override { return "mix"; }
  std::vector<Parameter> parameters() const override;
  std::span<const double> probabilities() const { return probabilities_; }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  int phases(const Domain& domain) const override { return phases_of_parts(domain); }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

 protected:
  std::unique_ptr<Sampler> with(Parts parts) const override {
    return std::make_unique<Mix>(std::move(parts), probabilities_);
  }

 private:
  std::size_t choose(double u) const;

  std::vector<double> probabilities_;
};

}  // namespace saltus
