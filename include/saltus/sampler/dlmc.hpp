// Discrete Langevin Monte Carlo: Sun, Dai, Dai, Zhou & Schuurmans, "Discrete Langevin samplers via
// Wasserstein gradient flow", AISTATS 2023. All coordinates move at once, independently given one
// gradient, as a jump process does in time tau. With d_k the first-order difference of log p of
// changing coordinate i from its level c to k (d_c = 0), nu = softmax(d) and the rates
// w_k = g(e^{d_k}):
//
//   heat:   q_i(k) = nu_k (1 - exp(-tau w_k / nu_k)), for two levels the exact heat kernel,
//   euler:  q_i(k) = min(tau w_k, nu_k),
//
// k != c; the rest stays. A Metropolis test with these probabilities makes it exact.
#pragma once

#include <optional>
#include <vector>

#include "saltus/sampler/balancing.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct DlmcOptions {
  std::optional<double> step_size;  // tau; none: tuned
  std::optional<bool> adapt;        // tune tau in warm-up; by default when no step_size is given
  enum class Form { heat, euler } form = Form::heat;
  Balancing balancing = Balancing::sqrt;
  int window = 0;  // ordered levels: move at most this far; 0: anywhere
};

class Dlmc final : public Sampler, public Tunable, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this domain.
  Dlmc(const Domain& domain, const DlmcOptions& options);

  std::string name() const override { return "dlmc"; }
  std::vector<Parameter> parameters() const override;
  std::optional<double> step_size() const override { return step_size_; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }

  Needs needs(const Target& target) const override { return {true, true, target.cheap_near()}; }
  bool accumulates_rounding(const Target& target) const override { return target.cheap_near(); }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

  // log q_i(k | x) of every level k of every coordinate in double precision, coordinate after
  // coordinate (minus infinity outside the window). `domain` may be a truncated version of the one
  // this sampler was made for.
  void log_probabilities(const Domain& domain, const Symbol* x, const double* score,
                         std::span<double> out) const;

 private:
  Domain domain_;
  DlmcOptions options_;
  double step_size_;
};

}  // namespace saltus
