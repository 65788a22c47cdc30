// gwg and pas under a constraint on the sum or the parity: sites leave their levels one after the
// other, each drawn by w_i = exp(d_i / 2) among those that are left, d_i being the estimated change
// of log p by a flip.
//
//   sum = k       r ones leave, then r zeros
//   sum = a..b    so, or one fewer of the ones or of the zeros: each with the same probability, as
//                 far as the state allows it
//   parity        2 r sites of either level
//
// gwg takes r = 1; pas draws r anew in each step, uniformly from 1 ... 2 swaps - 1. The way back
// draws the same sites in the reversed order, by the weights of the new state.
#pragma once

#include <memory>
#include <optional>

#include "sampler/constrained/flip_kernel.hpp"
#include "sampler/constrained/swap_sides.hpp"

namespace saltus {

struct SwapPathOptions {
  std::optional<int> swaps;   // mean number in a step; none: tuned
  std::optional<bool> adapt;  // tune swaps in warm-up; by default when none are given
  bool fixed = false;         // exactly `swaps` in every step
};

class SwapPath final : public FlipKernel, public Tunable {
 public:
  SwapPath(const Constraint& constraint, const SwapPathOptions& options, bool single = false);

  std::string name() const override { return single_ ? "gwg" : "pas"; }
  std::vector<Parameter> parameters() const override;
  std::string missing(const Target& target) const override;
  Needs needs(const Target& target) const override;
  bool accumulates_rounding(const Target& target) const override;
  int cache_size(const Target& target) const override;
  std::string cache_key() const override;
  void start(const Target& target, Tile& tile, Workspace& work) const override;
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;
  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

 private:
  class Ways;
  double propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                 std::int32_t* flips, std::uint32_t& count) const override;
  double log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                  Scratch& room) const override;
  // Draws a path of a state with so many ones; returns the log of its probability given r.
  double draw_path(Sides& sides, int ones, const Stream& stream, std::int32_t* flips,
                   std::uint32_t& count) const;
  // The same for a path that is known, of a sum the ones first.
  double log_path(Sides& sides, const Symbol* x, int ones,
                  std::span<const std::int32_t> path) const;
  int ones_of(const Symbol* x) const;  // of a parity nobody asks
  // Moving rows pays, so that a step costs the neighbours of a few sites.
  bool in_place(const Target& target) const;
  void step_in_place(const Target& target, Tile& tile, int r, Workspace& work,
                     StepInfo& info) const;
  // r of a step that makes these flips of x; 0 where none does.
  int swaps_of(const Symbol* x, std::span<const std::int32_t> flips) const;
  bool of_parity() const { return constraint().kind() == Constraint::Kind::parity; }
  int limit() const;  // of r
  int most() const;

  SwapPathOptions options_;
  bool single_;
};

}  // namespace saltus
