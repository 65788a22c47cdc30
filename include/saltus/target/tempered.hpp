// A target on the way from independent coordinates to a model:
//
//   log p_beta(x) = beta log p(x) + (1 - beta) log p_0(x),   0 <= beta <= 1.
//
// Where the base is uniform, so that log p_0 is a constant, beta may be above 1: colder than the
// model.
//
// A row's cache (Target::cache_size) holds the model's own cached values and score, so that a
// change of beta takes no evaluation and adds no error. Every ability of the model serves at every
// beta: differences, conditional distributions and relaxed values are affine in beta.
#pragma once

#include <memory>
#include <vector>

#include "saltus/core/tempering.hpp"
#include "saltus/target/independent.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Tempered final : public Target,
                       public LocalMoves,
                       public GibbsSweeps,
                       public Relaxation,
                       public HiddenUnits {
 public:
  // beta is 1 at first. The model must outlive this; a copy has its own beta and shares the base.
  Tempered(const Target& model, Independent base);
  Tempered(const Target& model, std::shared_ptr<const Independent> base);

  const Target& model() const { return model_; }
  const Independent& base() const { return *base_; }
  const std::shared_ptr<const Independent>& shared_base() const { return base_; }
  double beta() const { return beta_; }
  // Values computed before are then out of date, except cached ones. Not while others evaluate.
  void set_beta(double beta);

  // (log p - log p_0)(x), given log p_beta(x) at the present beta, which must not be 0.
  double log_ratio(const Symbol* x, double logp) const;
  // The score at the present beta from the model's own, which a row's cache holds.
  void mix_score(Rows<const Symbol> x, Rows<const float> cache, Rows<float> score) const;

  std::string name() const override { return model_.name() + " (tempered)"; }
  const Domain& domain() const override { return model_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  bool stochastic() const override { return model_.stochastic(); }
  const Constraint* constraint() const override { return model_.constraint(); }
  const ForbiddenStates* forbidden_states() const override { return model_.forbidden_states(); }
  std::vector<int> shape() const override { return model_.shape(); }
  int preferred_tile() const override { return model_.preferred_tile(); }
  // At beta = 1 this is the model.
  const OnDevice* on_device() const override { return beta_ == 1 ? model_.on_device() : nullptr; }

  // A row: the model's cached values, room up to the padding, and the model's score.
  int cache_size() const override { return padded(model_.cache_size()) + domain().score_size(); }
  void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override;
  bool cheap_near() const override { return model_.cheap_near(); }
  void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> cache) const override;

  const LocalMoves* local_moves() const override { return moves() ? this : nullptr; }
  bool moves_keep_score() const override { return false; }
  bool need_target_cache() const override {
    return moves()->need_target_cache() || moves()->need_score();
  }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override {
    return moves()->neighbours(i, room);
  }
  int max_neighbours() const override { return moves()->max_neighbours(); }

  const GibbsSweeps* gibbs_sweeps() const override { return sweeps() && moves() ? this : nullptr; }
  void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order, const Draws& draws,
              std::uint32_t* changed) const override;
  int groups() const override { return sweeps()->groups(); }
  void update_group(const At& at, Rows<Symbol> x, int group, const Draws& draws,
                    std::uint32_t* changed) const override;
  std::vector<std::int32_t> group(int g) const override { return sweeps()->group(g); }

  const Relaxation* relaxation() const override { return model_.relaxation() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  // Binary units h of a law q(x, h) proportional to p(x, h)^beta p_0(x)^(1 - beta). Its marginal
  // is p_beta only at beta = 0 and 1.
  const HiddenUnits* hidden_units() const override { return units() ? this : nullptr; }
  int hidden() const override { return units()->hidden(); }
  void hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const override;
  void visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const override;
  bool leaves_target_invariant() const override { return beta_ == 0 || beta_ == 1; }
  double log_correction(double hidden_log_odds) const override;
  void hidden_log_odds_exact(const Symbol* x, double* out) const override;
  void visible_log_odds_exact(const Symbol* hidden, double* out) const override;

 private:
  Tempering tempering() const { return {beta_}; }
  const LocalMoves* moves() const { return model_.local_moves(); }
  const GibbsSweeps* sweeps() const { return model_.gibbs_sweeps(); }
  const HiddenUnits* units() const { return model_.hidden_units(); }
  template <class T>
  Rows<T> cache_of_model(Rows<T> cache) const;
  template <class T>
  Rows<T> score_of_model(Rows<T> cache) const;
  LocalRow row_of_model(const LocalRow& row) const;
  void mix_logp(Rows<const Symbol> x, double* logp) const;
  template <class T>
  void mix(Rows<const Symbol> x, Rows<const T> model_score, Rows<T> score) const;
  double log_odds_of_base(int i) const;
  // A level drawn from the conditional law: of two, or of any.
  Symbol other_level(const LocalRow& row, int i, double u) const;
  Symbol any_level(const LocalRow& row, int i, double u, std::span<double> room) const;
  template <class WordOf>
  void update_one_by_one(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                         const Draws& draws, WordOf word_of, std::uint32_t* changed) const;

  const Target& model_;
  std::shared_ptr<const Independent> base_;
  std::shared_ptr<const std::vector<double>> base_score_;  // where it is the same in all states
  double beta_ = 1;
};

}  // namespace saltus
