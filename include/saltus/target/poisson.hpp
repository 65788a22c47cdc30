// Independent Poisson counts: logp(x) = sum_i x_i log(rate_i) - log(x_i!), x_i = 0, 1, 2, ...
//
// The extension is the gamma function: score = log(rate) - digamma(x + 1). Counts up to 65,535 are
// represented, so rates are limited to where more has no weight (60,000: 22 standard deviations).
#pragma once

#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Poisson final : public Target, public LocalMoves {
 public:
  static constexpr double kMaxRate = 60000;

  explicit Poisson(PoissonModel model);
  explicit Poisson(std::vector<double> rates) : Poisson(PoissonModel{std::move(rates)}) {}

  const PoissonModel& model() const { return model_; }

  std::string name() const override { return "poisson"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int, std::int32_t*) const override { return {}; }
  int max_neighbours() const override { return 0; }

 private:
  template <class T>
  void evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const;

  PoissonModel model_;
  std::vector<double> log_rate_;
  Domain domain_;
  std::vector<double> log_factorial_, digamma_;  // by count
};

}  // namespace saltus
