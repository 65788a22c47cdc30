// Independent bits: logp(x) = sum_i logit_i x_i, x in {0, 1}^d.
#pragma once

#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Bernoulli final : public Target, public LocalMoves, public Relaxation {
 public:
  explicit Bernoulli(BernoulliModel model);
  explicit Bernoulli(std::vector<double> logits) : Bernoulli(BernoulliModel{std::move(logits)}) {}

  const BernoulliModel& model() const { return model_; }

  std::string name() const override { return "bernoulli"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override { row.x[i] = to; }
  std::span<const std::int32_t> neighbours(int, std::int32_t*) const override { return {}; }
  int max_neighbours() const override { return 0; }

  const Relaxation* relaxation() const override { return this; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

 private:
  template <class Value, class T>
  void evaluate_rows(Rows<const Value> x, double* logp, Rows<T> score) const;

  BernoulliModel model_;
  Domain domain_;
};

}  // namespace saltus
