// The discrete Langevin proposal: Zhang, Liu & Liu, "A Langevin-like sampler for discrete
// distributions", ICML 2022. All coordinates move at once, independently given one gradient:
//
//   q_i(x'_i | x)  proportional to  exp( gamma score_i (v' - v) - |v' - v|^2 / (2 alpha p_i) ),
//
// gamma = 1/2. adjust = false is DULA, adjust = true adds the Metropolis test and is DMALA. Other
// gamma, and step sizes that go up and down in cycles, are those of Pynadath, Bhattacharya,
// Hariharan & Zhang, "Gradient-based discrete sampling with automatic cyclical scheduling", NeurIPS
// 2024.
#pragma once

#include <optional>
#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Step sizes that fall from `largest` to `smallest` along half a cosine within `period` steps, and
// start again: the step of number k uses
//   alpha = max( largest (cos(pi (k mod period) / period) + 1) / 2, smallest ).
struct StepCycle {
  int period = 20;
  double largest = 0, smallest = 0;

  double step_size(int k) const;  // 0 <= k < period
};

struct DlpOptions {
  bool adjust = true;
  std::optional<double> step_size;  // alpha; infinity drops the distance term; none: tuned
  std::optional<bool> adapt;        // tune alpha in warm-up; by default when no step_size is given
  std::vector<double>
      precondition;  // p_i > 0 for each coordinate: its step is alpha p_i; empty: all 1
  // The distance of a level change: in steps of the index (a flip of a two-level coordinate is 1,
  // the convention of the paper's published step sizes) or in the model's own values (a spin flip
  // is 2).
  enum class Distance { index, value } distance = Distance::index;
  // Ordered levels: move at most this far. 0: anywhere; on unbounded integers as far as the step
  // size reaches, so that both are tuned together.
  int window = 0;
  double balancing_exponent = 0.5;  // gamma, above 0 and at most 1
  std::optional<StepCycle> cycle;   // in place of step_size, on ordered levels; never tuned
};

class Dlp final : public Sampler, public Tunable, public Enumerable {
 public:
  // Throws UsageError for options that make no sense on this domain.
  Dlp(const Domain& domain, DlpOptions options);

  std::string name() const override { return options_.adjust ? "dmala" : "dula"; }
  std::vector<Parameter> parameters() const override;
  // None where the steps differ.
  std::optional<double> step_size() const override {
    return options_.cycle ? std::nullopt : std::optional(step_size_);
  }
  bool exact() const override { return options_.adjust; }
  bool reversible() const override { return options_.adjust; }

  Needs needs(const Target& target) const override;
  // On a target that knows how to evaluate near an evaluated state.
  bool accumulates_rounding(const Target& target) const override { return target.cheap_near(); }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }
  int phases(const Domain&) const override { return options_.cycle ? options_.cycle->period : 1; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;

  // Without an own acceptance rate DULA is tuned as DMALA, and its draws use half the step found:
  // the ratio that the paper uses throughout.
  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

  const Domain& domain() const { return domain_; }
  const DlpOptions& options() const { return options_; }
  int window() const { return window_; }  // in force; 0: none
  // What a change by one step of the index costs in step number `step`, in the log of its
  // probability: one number for all coordinates, or one for each with room up to the padding.
  std::span<const float> penalty(std::uint64_t step = 0) const;

  // log q_i(k | x) of every level k of every coordinate in double precision, coordinate after
  // coordinate (minus infinity outside the window), in step number `step`. `domain` may be a
  // truncated version of the one this sampler was made for.
  void log_probabilities(const Domain& domain, const Symbol* x, const double* score,
                         std::span<double> out, std::uint64_t step = 0) const;

 private:
  class Pass;
  // Squared distance of one step of the index, halved: the penalty at alpha = 1.
  double unit() const;
  double unadjusted(double penalty) const;
  void check_cycle() const;
  void add_penalties(double step_size);
  // The place of a step in the cycle; 0 without one.
  std::size_t phase(std::uint64_t step) const {
    return options_.cycle ? step % static_cast<std::uint64_t>(options_.cycle->period) : 0;
  }
  bool one_penalty() const { return options_.precondition.empty(); }
  bool chooses_window() const { return domain_.unbounded() && options_.window == 0; }
  int natural_window() const;

  Domain domain_;
  DlpOptions options_;
  double step_size_;
  int window_ = 0;
  // unit / (alpha p_i): one, or one per coordinate, for each step of the cycle; in single precision
  // padded like rows.
  std::vector<double> penalty_;
  std::vector<float> penalty_single_;
};

}  // namespace saltus
