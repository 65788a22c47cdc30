// A target on the way from independent coordinates to a model:
//
//   log p_beta(x) = beta log p(x) + (1 - beta) log p_0(x),   0 <= beta <= 1.
//
// Differences of log p are mixed in the same way, so that a model's local moves serve here too.
#pragma once

#include <memory>
#include <vector>

#include "saltus/target/independent.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Tempered final : public Target, public LocalMoves {
 public:
  // beta is 1 at first. The model must outlive this; a copy has its own beta and shares the base.
  Tempered(const Target& model, Independent base);

  const Target& model() const { return model_; }
  const Independent& base() const { return *base_; }
  double beta() const { return beta_; }
  // Values computed before are then out of date, except kept ones. Not while others evaluate.
  void set_beta(double beta);
  // set_beta that brings values at the old beta, which must not be 0, to the new one without an
  // evaluation: v' = c v + (1 - c) v_0 with c = beta' / beta. Errors of v grow by c. A null output
  // is left alone.
  void change_beta(double beta, Rows<const Symbol> x, double* logp, Rows<float> score);

  std::string name() const override { return model_.name() + " (tempered)"; }
  const Domain& domain() const override { return model_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  bool stochastic() const override { return model_.stochastic(); }
  std::vector<int> shape() const override { return model_.shape(); }
  int preferred_tile() const override { return model_.preferred_tile(); }
  // At beta = 1 this is the model.
  const OnDevice* on_device() const override { return beta_ == 1 ? model_.on_device() : nullptr; }

  // The model's kept values and, where the model makes use of it, its score: neither depends on
  // beta.
  int kept_size() const override;
  void evaluate_kept(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                     Rows<float> kept) const override;
  bool cheap_near() const override { return model_.cheap_near(); }
  void evaluate_near(const At& at, const Known& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> kept) const override;

  const LocalMoves* local_moves() const override { return moves() ? this : nullptr; }
  bool moves_keep_score() const override { return false; }
  bool need_kept() const override { return moves()->need_kept() || moves()->need_score(); }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override {
    return moves()->neighbours(i, room);
  }
  int max_neighbours() const override { return moves()->max_neighbours(); }

 private:
  const LocalMoves* moves() const { return model_.local_moves(); }
  bool keeps_score() const;
  template <class T>
  Rows<T> kept_of_model(Rows<T> kept) const;
  template <class T>
  Rows<T> score_of_model(Rows<T> kept) const;
  LocalRow row_of_model(const LocalRow& row) const;
  template <class T>
  void mix(double of_model, double of_base, Rows<const Symbol> x, double* logp,
           Rows<const T> model_score, Rows<T> score) const;

  const Target& model_;
  std::shared_ptr<const Independent> base_;
  std::shared_ptr<const std::vector<double>> base_score_;  // where it is the same in all states
  double beta_ = 1;
};

}  // namespace saltus
