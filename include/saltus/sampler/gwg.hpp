// Samplers that choose sites by how much a change there would raise log p.
//
// Gibbs with gradients: Grathwohl, Swersky, Hashemi, Duvenaud & Maddison, "Oops I took a gradient:
// scalable sampling for discrete distributions", ICML 2021. With d_ik the difference of log p that
// the score promises for level k at coordinate i, and a balancing function g:
//
//   w_ik = g(exp(d_ik)),  W_i = sum_k w_ik,  p_i = W_i / sum_j W_j.
//
// A step draws `flips` sites from p with replacement, gives each distinct one a new level from
// w_ik / W_i, and accepts with the ratio of pi(y) p_i1(y) ... to pi(x) p_i1(x) ...: for a fixed
// list of sites, the way back has the same list.
//
// With exact differences and one flip it is the locally balanced proposal of Zanella, "Informed
// proposals for local MCMC in discrete spaces", JASA 2020.
#pragma once

#include "saltus/sampler/balancing.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct GwgOptions {
  int flips = 1;       // sites drawn in a step
  bool adapt = false;  // tune flips in warm-up
  Balancing balancing = Balancing::sqrt;
  int window = 0;      // ordered levels: move at most this far; 0: anywhere
  bool exact = false;  // differences of log p instead of what the score promises; one flip
};

class Gwg final : public Sampler, public Tunable, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this domain.
  Gwg(const Domain& domain, const GwgOptions& options);

  std::string name() const override { return options_.exact ? "locally_balanced" : "gwg"; }
  std::string cache_key() const override;
  std::vector<Parameter> parameters() const override;
  bool exact() const override { return true; }
  bool reversible() const override { return true; }

  Needs needs(const Target& target) const override;
  bool accumulates_rounding(const Target& target) const override;
  int cache_size(const Target& target) const override;
  void start(const Target& target, Tile& tile, Workspace& work) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

  const Tunable* tunable() const override { return options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

  const GwgOptions& options() const { return options_; }

 private:
  class Choice;

  Domain domain_;
  GwgOptions options_;
};

}  // namespace saltus
