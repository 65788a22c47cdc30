// The law of some coordinates of a model, given the others: log p(free, given), up to the same
// constant as the model's own, so that log Z is the logarithm of the sum over the free ones.
//
// It serves any model. Where the values can be folded into a model's own numbers (condition, in
// saltus/model/condition.hpp), the folded model is faster. It has all abilities of the model but
// chains on a device.
#pragma once

#include <memory>
#include <vector>

#include "saltus/target/given_values.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Given final : public Target,
                    public LocalMoves,
                    public GibbsSweeps,
                    public Relaxation,
                    public HiddenUnits,
                    public ForbiddenStates {
 public:
  // Throws UsageError where nothing is left free, or the list does not fit.
  Given(std::shared_ptr<const Target> model, std::vector<GivenValue> list);

  const Target& model() const { return *model_; }
  const GivenValues& given() const { return given_; }

  std::string name() const override { return model_->name() + " (given)"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  bool stochastic() const override { return model_->stochastic(); }
  int preferred_tile() const override { return model_->preferred_tile(); }

  // A row: the model's cached values, and, where it needs its own score again, that.
  int cache_size() const override;
  void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override;
  bool cheap_near() const override { return model_->cheap_near(); }
  void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> cache) const override;

  const LocalMoves* local_moves() const override { return moves() ? this : nullptr; }
  bool moves_keep_score() const override { return false; }
  bool need_target_cache() const override {
    return moves()->need_target_cache() || moves()->need_score();
  }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override { return moves()->max_neighbours(); }
  int work() const override { return moves()->work(); }

  // Without groups: those of the model would change given coordinates.
  const GibbsSweeps* gibbs_sweeps() const override { return sweeps() ? this : nullptr; }
  void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order, const Draws& draws,
              std::uint32_t* changed) const override;

  const Relaxation* relaxation() const override { return model_->relaxation() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  // The model's: given these, free coordinates are independent of one another and of given ones.
  const HiddenUnits* hidden_units() const override { return units() ? this : nullptr; }
  int hidden() const override { return units()->hidden(); }
  void hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const override;
  void visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const override;
  bool leaves_target_invariant() const override { return units()->leaves_target_invariant(); }
  double log_correction(double log_odds) const override {
    return units()->log_correction(log_odds);
  }
  void hidden_log_odds_exact(const Symbol* x, double* out) const override;
  void visible_log_odds_exact(const Symbol* hidden, double* out) const override;

  // Where the model forbids some states; local moves, which need nothing but states, lead out.
  const ForbiddenStates* forbidden_states() const override {
    return model_->forbidden_states() && moves() && !need_target_cache() ? this : nullptr;
  }
  double penalty() const override { return model_->forbidden_states()->penalty(); }
  bool make_allowed(const Stream& stream, Symbol* x) const override;

 private:
  class Room;
  const LocalMoves* moves() const { return model_->local_moves(); }
  const GibbsSweeps* sweeps() const { return model_->gibbs_sweeps(); }
  const HiddenUnits* units() const { return model_->hidden_units(); }
  int full(int i) const { return given_.free()[static_cast<std::size_t>(i)]; }
  bool caches_score() const { return cheap_near() || (moves() && moves()->need_score()); }
  template <class T>
  Rows<T> cache_of_model(Rows<T> cache) const;
  template <class T>
  Rows<T> score_of_model(Rows<T> cache) const;
  // The model's row for a free one: the states lie in x, the rest in the row's cache.
  LocalRow row_of_model(const LocalRow& row, Symbol* x) const;
  Rows<Symbol> whole_rows(Room& room, std::size_t slot, Rows<const Symbol> x) const;
  template <class T>
  void gather_score(Rows<const T> all, Rows<T> some) const;
  template <class T>
  void gather_columns(Rows<const T> all, Rows<T> some) const;

  std::shared_ptr<const Target> model_;
  GivenValues given_;
  Domain domain_;
};

}  // namespace saltus
