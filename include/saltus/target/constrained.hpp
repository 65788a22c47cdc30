// A model restricted to the states that a constraint allows. Samplers that know how to stay among
// these serve it; all others are refused (Sampler::keeps_constraint).
#pragma once

#include <memory>

#include "saltus/target/constraint.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// Evaluates as the model does, also at states that the constraint does not allow: nobody is to ask
// for these but samplers on their way between two allowed ones.
class Constrained final : public Target, public ForbiddenStates {
 public:
  // Throws UsageError unless all coordinates have two levels.
  Constrained(std::shared_ptr<const Target> model, Constraint constraint);

  const Target& model() const { return *model_; }

  std::string name() const override { return model_->name(); }
  const Domain& domain() const override { return model_->domain(); }
  const Constraint* constraint() const override { return &constraint_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    model_->evaluate(at, x, logp, score);
  }
  int cache_size() const override { return model_->cache_size(); }
  void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override {
    model_->evaluate_and_cache(at, x, logp, score, cache);
  }
  bool cheap_near() const override { return model_->cheap_near(); }
  void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> cache) const override {
    model_->evaluate_near(at, known, y, logp, score, cache);
  }
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override {
    model_->evaluate_exact(at, x, logp, score);
  }
  bool stochastic() const override { return model_->stochastic(); }
  const LocalMoves* local_moves() const override { return model_->local_moves(); }
  std::vector<int> shape() const override { return model_->shape(); }
  int preferred_tile() const override { return model_->preferred_tile(); }

  // A start that neither the model nor the constraint forbids is found by trying.
  const ForbiddenStates* forbidden_states() const override {
    return model_->forbidden_states() ? this : nullptr;
  }
  double penalty() const override { return model_->forbidden_states()->penalty(); }
  bool make_allowed(const Stream& stream, Symbol* x) const override;

 private:
  std::shared_ptr<const Target> model_;
  Constraint constraint_;
};

// Throws UsageError, naming the constraint, unless all coordinates of the model have two levels.
void require_two_levels(const Target& model, const std::string& constraint);

// The number of states that a target allows, as far as it has a constraint, or nothing when it
// exceeds the limit.
std::optional<std::uint64_t> count_states(const Target& target, std::uint64_t limit);

}  // namespace saltus
