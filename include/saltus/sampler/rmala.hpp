// RMALA, the relaxed Metropolis-adjusted Langevin algorithm, in the form with which Grathwohl,
// Swersky, Hashemi, Duvenaud & Maddison, "Oops I took a gradient: scalable sampling for discrete
// distributions", ICML 2021, compare. A chain lives on z in R^d and its states are x = 1[z > 0]:
//
//   target     log p_t(z) = -|z|^2 / 2 + U(1[z > 0]),
//   surrogate  log p_s(z) = -|z|^2 / 2 + U(first + spacing sigma(z / t)),
//   proposal   z' = z + eps grad log p_s(z) + sqrt(2 eps) xi,   xi ~ N(0, I),
//
// with the Metropolis test for p_t: the law of x is exactly pi. U = logp.
#pragma once

#include <optional>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct RmalaOptions {
  std::optional<double> step_size;  // eps; none: tuned
  std::optional<bool> adapt;        // tune eps in warm-up; by default when no step_size is given
  double temperature = 0.1;         // t of the surrogate
};

// For two-level targets with a relaxation (Target::relaxation).
class Rmala final : public Sampler, public Tunable {
 public:
  // Throws UsageError for options that make no sense.
  explicit Rmala(RmalaOptions options);

  std::string name() const override { return "rmala"; }
  std::string cache_key() const override {
    return name() + " " + std::to_string(options_.temperature);
  }
  std::vector<Parameter> parameters() const override;
  std::optional<double> step_size() const override { return step_size_; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }  // on z; the states alone are no Markov chain

  std::string missing(const Target& target) const override;
  Needs needs(const Target&) const override { return {true, false, false}; }
  // z and the surrogate's gradient there.
  int cache_size(const Target& target) const override { return 2 * target.domain().dim(); }
  void start(const Target& target, Tile& tile, Workspace& work) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;

  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

 private:
  void propose(Tile& tile, Workspace& work, Rows<float> z, std::span<StepInfo> info) const;

  RmalaOptions options_;
  double step_size_;
};

}  // namespace saltus
