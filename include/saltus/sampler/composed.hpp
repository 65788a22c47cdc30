// Samplers made of others, their parts: Sequence takes them in turn, Mix at random.
//
// A part has random numbers of its own: its seed follows from that of the run and its place. What
// one part leaves stale another one evaluates, and what a part keeps per chain
// (Sampler::cache_size) is started afresh before each of its steps, because other parts may have
// moved the chain since.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

class Composed : public Sampler, public Tunable, public Enumerable {
 public:
  using Parts = std::vector<std::shared_ptr<const Sampler>>;
  const Parts& parts() const { return parts_; }

  // Those of all parts, each as NAME.PARAMETER; the second part of one name is NAME2.
  std::vector<Parameter> parameters() const override;
  bool exact() const override;
  bool reversible() const override;
  std::string missing(const Target& target) const override;
  bool keeps_constraint() const override;
  Needs needs(const Target&) const override { return {false, false, false}; }
  bool accumulates_rounding(const Target& target) const override;

  const Tunable* tunable() const override;
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> values, Phase phase) const override;
  const Enumerable* enumerable() const override;

 protected:
  // Throws UsageError for no parts, or for one whose chains influence one another or move by a
  // deterministic rule.
  explicit Composed(Parts parts);

  // The same sampler of other parts.
  virtual std::unique_ptr<Sampler> with(Parts parts) const = 0;

  std::size_t size() const { return parts_.size(); }
  // The least common multiple of the parts' phases.
  int phases_of_parts(const Domain& domain) const;
  // One step of part `p`, to which it is number `own_step`, and its exact probabilities.
  void step_part(std::size_t p, std::uint64_t own_step, const Target& target, Tile& tile,
                 Workspace& work, std::span<StepInfo> info) const;
  void matrix_of_part(std::size_t p, const StateTable& table, const When& when, Rows<double> matrix,
                      std::span<double> acceptance) const;

 private:
  Parts parts_;
};

// NAME, NAME2, NAME3, ... for parts of the same name.
std::vector<std::string> part_labels(std::span<const std::string> names);

// Samplers in turn: step s of a chain is made by part s mod n. Each part counts its own steps, so
// that one that visits coordinates in turn visits all of them.
class Sequence final : public Composed {
 public:
  // Throws UsageError; see Composed.
  explicit Sequence(Parts parts) : Composed(std::move(parts)) {}

  std::string name() const override;  // "dmala+gwg"
  std::string cache_key() const override { return "sequence"; }
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

// One of several samplers at random: at every step each chain draws a part with probability
// proportional to its weight, by a random number of its own (Purpose::part). The transition matrix
// is the weighted sum of the parts', and a mix of reversible samplers is reversible.
//
// Chains of a tile take different parts, so that the tile falls apart into short runs of rows. On
// models that are evaluated by matrix products a Sequence is faster.
class Mix final : public Composed {
 public:
  // One positive weight for each part. Throws UsageError; see Composed.
  Mix(Parts parts, std::vector<double> weights);

  std::string name() const override;  // "mix of dmala, gwg"
  std::string cache_key() const override { return "mix"; }
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
