// Restricted Boltzmann machine with the hidden units summed out:
//   logp(x) = sum_h softplus((W x + c)_h) + b'x,   x in {0, 1}^d,
//   score   = W' sigma(W x + c) + b.
// It keeps the pre-activations W x + c of every row.
#pragma once

#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Rbm final : public Target, public LocalMoves, public Relaxation, public HiddenUnits {
 public:
  explicit Rbm(RbmModel model);
  Rbm(std::vector<double> weights, std::vector<double> visible_bias,
      std::vector<double> hidden_bias)
      : Rbm(RbmModel{std::move(weights), std::move(visible_bias), std::move(hidden_bias)}) {}

  const RbmModel& model() const { return model_; }

  // Other parameters for the same units; evaluations from before no longer count.
  void set_parameters(std::span<const float> weights, std::span<const float> visible_bias,
                      std::span<const float> hidden_bias);

  std::string name() const override { return "rbm"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  int cache_size() const override { return hidden(); }
  void evaluate_and_cache(const At&, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override;
  bool cheap_near() const override { return true; }
  void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> cache) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  int preferred_tile() const override { return 64; }

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return false; }
  bool need_target_cache() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int, std::int32_t*) const override { return all_; }
  int max_neighbours() const override { return domain_.dim(); }

  const Relaxation* relaxation() const override { return this; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  const HiddenUnits* hidden_units() const override { return this; }
  int hidden() const override { return static_cast<int>(model_.hidden_bias.size()); }
  void hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const override;
  void visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const override;
  void hidden_log_odds_exact(const Symbol* x, double* out) const override;
  void visible_log_odds_exact(const Symbol* hidden, double* out) const override;

 private:
  void derive_single();
  // softplus sums and score from pre-activations.
  void finish(const At& at, Rows<const float> z, double* logp, Rows<float> score) const;

  RbmModel model_;
  // In single precision: the weights of each hidden and of each visible unit, and the biases
  // (one row each).
  RowBuffer<float> by_hidden_, by_visible_, visible_row_, hidden_row_;
  std::vector<std::int32_t> all_;  // every coordinate
  Domain domain_;
};

}  // namespace saltus
