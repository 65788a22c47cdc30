// The path auxiliary sampler: Sun, Dai, Xia & Ramamurthy, "Path auxiliary proposal for MCMC in
// discrete space", ICLR 2022, in its version with one gradient for the whole path.
//
// A step draws r distinct sites one after the other, each with its weight's part of what is left,
//
//   q(i_1 ... i_r | x) = prod_k p_ik / (1 - sum_{j<k} p_ij),
//
// changes all of them, and tests against the same sites in reversed order at the other end. The
// weights are those of Gibbs with gradients (gwg.hpp).
//
// With a fixed even r two-level coordinates would keep their parity for ever. So r is drawn anew in
// each step, uniformly from 1 ... 2 flips - 1, unless `fixed` asks for exactly `flips`.
#pragma once

#include "saltus/sampler/balancing.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct PasOptions {
  std::optional<int> flips;   // mean number of sites changed in a step; none: tuned
  std::optional<bool> adapt;  // tune flips in warm-up; by default when no flips are given
  bool fixed = false;         // exactly `flips` sites in every step
  Balancing balancing = Balancing::sqrt;
  int window = 0;  // ordered levels: move at most this far; 0: anywhere
};

class Pas final : public Sampler, public Tunable, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this domain.
  Pas(const Domain& domain, const PasOptions& options);

  std::string name() const override { return "pas"; }
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

  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

  const PasOptions& options() const { return options_; }
  int most_sites() const;  // in one step

 private:
  class Choice;

  PasOptions options_;
  Domain domain_;
  int sites_;  // coordinates with more than one level
};

}  // namespace saltus
