// dmala under a constraint: the discrete Langevin proposal given that the new state is allowed,
// with the Metropolis test.
//
//   l_i = gamma d_i - 1 / (2 alpha),  q(x' | x) proportional to exp(sum of l_i over the flips)
//
// among all sets of flips that keep the constraint; d_i is the estimated change of log p.
#pragma once

#include <memory>
#include <optional>

#include "sampler/constrained/conditional_flips.hpp"
#include "sampler/constrained/flip_kernel.hpp"

namespace saltus {

struct ConditionalDlpOptions {
  std::optional<double> step_size;  // alpha; infinity drops the distance term; none: tuned
  std::optional<bool> adapt;        // by default when no step_size is given
  double balancing_exponent = 0.5;  // gamma
  int most_swaps = 0;  // of a sum: ones that may go, and come, in one step; 0: 64, or all
};

class ConditionalDlp final : public FlipKernel, public Tunable {
 public:
  ConditionalDlp(const Constraint& constraint, ConditionalDlpOptions options);

  std::string name() const override { return "dmala"; }
  std::vector<Parameter> parameters() const override;
  std::optional<double> step_size() const override { return step_size_; }
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
  // From estimated changes to log weights in force; returns log Z.
  double condition(const Symbol* x, std::span<double> d, Scratch& room) const;

  ConditionalDlpOptions options_;
  double step_size_;
  std::unique_ptr<ConditionalFlips> law_;
};

}  // namespace saltus
