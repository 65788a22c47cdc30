// Random-walk Metropolis: every coordinate changes independently with probability min(1, r / d), to
// a level chosen uniformly among the others (or, with a window, among the levels up to that far on
// either side; a move off the end of the domain leaves the coordinate where it is). The proposal is
// symmetric, so that y is accepted with probability min(1, p(y) / p(x)).
#pragma once

#include <optional>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct RwmOptions {
  std::optional<double> rate;  // r, the expected number of changed coordinates; none: tuned
  std::optional<bool> adapt;   // tune r in warm-up; by default when no rate is given
  int window = 0;              // ordered levels: move at most this far; 0: anywhere
};

class Rwm final : public Sampler, public Tunable, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this domain.
  Rwm(const Domain& domain, const RwmOptions& options);

  std::string name() const override { return "rwm"; }
  std::vector<Parameter> parameters() const override;
  bool exact() const override { return true; }
  bool reversible() const override { return true; }

  Needs needs(const Target&) const override { return {true, false, false}; }
  // log p follows the moves where the target knows the differences.
  bool accumulates_rounding(const Target& target) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

 private:
  struct Change;
  struct Changes;

  double change_probability() const;
  // True when coordinate i moves within the window rather than to any other level.
  bool windowed(int i) const { return options_.window && options_.window < domain_.levels(i) - 1; }
  Changes draw_changes(const Symbol* x, const Stream& which, const Stream& level,
                       Change* room) const;
  void step_row(const Target& target, Tile& tile, int r, const Changes& changes, Workspace& work,
                StepInfo& info) const;
  void step_tile(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const;

  Domain domain_;
  RwmOptions options_;
  double rate_;
};

}  // namespace saltus
