// DSVGD, discrete Stein variational gradient descent: Han, Ding, Liu, Torresani, Peng & Liu, "Stein
// variational inference for discrete distributions", AISTATS 2020. All chains together are n
// particles z_j in R^d that move along one deterministic direction and show x = 1[z > 0]. With
// log p_s(z) = -|z|^2 / 2 + U(first + spacing sigma(z / t)), log p_t(z) = -|z|^2 / 2 + U(1[z > 0]):
//
//   phi(z_i) = sum_j K_ij w_j grad log p_s(z_j) - d/dz_i sum_j K_ij w_j,
//   w_j = softmax_j(log p_s(z_j) - log p_t(z_j)),   K_ij = exp(-gamma |z_i - z_j|^2),
//
// gamma by the median of the distances; ascent along phi by Adam (Kingma & Ba, ICLR 2015).
#pragma once

#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct DsvgdOptions {
  double learning_rate = 0.01;  // of Adam
  double temperature = 2;       // t of the surrogate
};

// For two-level targets with a relaxation (Target::relaxation).
class Dsvgd final : public Sampler {
 public:
  // Throws UsageError for options that make no sense.
  explicit Dsvgd(DsvgdOptions options);

  std::string name() const override { return "dsvgd"; }
  std::string cache_key() const override {
    return name() + " " + std::to_string(options_.temperature);
  }
  std::vector<Parameter> parameters() const override;
  bool exact() const override { return false; }
  bool reversible() const override { return false; }
  bool random() const override { return false; }
  bool interacting() const override { return true; }

  std::string missing(const Target& target) const override;
  Needs needs(const Target&) const override { return {true, false, false}; }
  // z, Adam's two means of phi and of its square, and how many steps they are made of.
  int cache_size(const Target& target) const override { return 3 * target.domain().dim() + 1; }
  void start(const Target& target, Tile& tile, Workspace& work) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;

 private:
  DsvgdOptions options_;
};

}  // namespace saltus
