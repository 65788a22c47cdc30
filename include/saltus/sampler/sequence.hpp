// Samplers in turn: step s of a chain is made by part s mod n. Each part counts its own steps, so
// that one that visits coordinates in turn visits all of them.
#pragma once

#include "saltus/sampler/composed.hpp"

namespace saltus {

class Sequence final : public Composed {
 public:
  // Throws UsageError; see Composed.
  explicit Sequence(Parts parts) : Composed(std::move(parts)) {}

  std::string name() const override;  // "dmala+gwg"
  std::string own_key() const override { return "sequence"; }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  int phases(const Domain& domain) const override;
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

 protected:
  std::unique_ptr<Sampler> with(Parts parts) const override {
    return std::make_unique<Sequence>(std::move(parts));
  }
};

}  // namespace saltus
