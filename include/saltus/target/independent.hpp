// Independent coordinates with given probabilities of their levels: a law on a domain that is
// normalised and can be drawn from exactly.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

class Target;

class Independent {
 public:
  // Throws UsageError for an unbounded domain, here and below.
  static Independent uniform(const Domain& domain);
  // Of the states that the target's constraint allows, where it has one: not independent then.
  static Independent uniform(const Target& target);
  // The probability of the upper level of each coordinate of a two-level domain. Throws DataError
  // unless they lie strictly between 0 and 1.
  static Independent bernoulli(const Domain& domain, std::span<const double> upper);
  // The probabilities of all levels, coordinate after coordinate. Throws DataError unless they are
  // above 0 and those of each coordinate sum to 1 up to rounding (1e-6), which is then taken out.
  static Independent of_levels(const Domain& domain, std::span<const double> probabilities);
  // By `bernoulli` where all coordinates have two levels, otherwise by `of_levels`.
  static Independent with_probabilities(const Domain& domain, std::span<const double> p) {
    return domain.two_level() ? bernoulli(domain, p) : of_levels(domain, p);
  }

  const Domain& domain() const { return domain_; }
  const Constraint* constraint() const { return constraint_.get(); }  // null: none
  double log_probability(const Symbol* x) const;
  double log_probability(int i, int level) const { return log_p_[place(i, level)]; }

  // The score (see Target::evaluate) of coordinate i at a level: of a categorical coordinate that
  // of the level itself, log p; otherwise the slope of log p between the neighbouring levels.
  double score(int i, int level) const;
  // All states have the same probability.
  bool is_uniform() const { return uniform_; }
  // The score of a coordinate does not depend on its level.
  bool fixed_score() const { return fixed_score_; }

  // By inversion, from number i of the stream for coordinate i.
  void draw(const Stream& stream, Symbol* x) const;

 private:
  Independent(const Domain& domain, std::vector<double> log_p);
  std::size_t place(int i, int level) const;

  Domain domain_;
  std::vector<int> begin_;     // of each coordinate's levels, when their counts differ
  std::vector<double> log_p_;  // of all levels
  std::vector<double> logit_;  // of two-level coordinates
  double log_p_of_zeros_ = 0;  // of the state with level 0 everywhere
  bool uniform_ = false, fixed_score_ = false;
  std::shared_ptr<const Constraint> constraint_;  // null: none
};

}  // namespace saltus
