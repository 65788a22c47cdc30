// gwg and pas under sum = k: r distinct ones leave one after the other, and r distinct zeros come
// in their place, each drawn by w_i = exp(d_i / 2) among those that are left, d_i being the
// estimated change of log p by a flip. The way back draws them in the reversed order, by the
// weights of the new state. gwg takes r = 1; pas draws r anew in each step, uniformly from 1 ... 2
// swaps - 1.
#pragma once

#include <memory>
#include <optional>

#include "sampler/constrained/flip_kernel.hpp"

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
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override;
  const Tunable* tunable() const override { return *options_.adapt ? this : nullptr; }
  std::vector<Tuning> tuning() const override;
  std::unique_ptr<Sampler> tuned(std::span<const double> value, Phase phase) const override;

 private:
  double propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                 std::int32_t* flips, std::uint32_t& count) const override;
  double log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                  Scratch& room) const override;
  int limit() const;  // of swaps in one step
  int most() const;

  SwapPathOptions options_;
  bool single_;
};

}  // namespace saltus
