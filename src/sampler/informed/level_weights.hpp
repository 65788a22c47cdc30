// The levels that a coordinate may change to, and their weights g(exp(d)), d the difference of log
// p that the change makes, or an estimate of it.
#pragma once

#include "saltus/core/domain.hpp"
#include "saltus/sampler/balancing.hpp"

namespace saltus {

class LevelWeights {
 public:
  // The domain must outlive this. Ordered levels change by at most `window`; 0: by any amount.
  LevelWeights(const Domain& domain, Balancing balancing, int window)
      : domain_(domain), balancing_(balancing), window_(window) {}

  const Domain& domain() const { return domain_; }

  // Levels first .. first + count - 1: the one that coordinate i is at and those it may change to.
  struct Range {
    int first, count;
  };
  Range range(int i, int now) const;
  int most_levels() const;  // the largest count

  // The differences that the score promises: score_i (v' - v), categorical score_ik - score_ic.
  void estimate(const Symbol* x, const float* score, int i, Range range, double* out) const;

  // Turns differences into log weights, minus infinity at the level `now`, and returns the log of
  // their sum: of the site's weight.
  double weigh(Range range, int now, double* differences) const;

  // log weights of all sites of a row from its score; `room` holds most_levels() numbers. The same
  // bits as estimate and weigh give for a single site.
  void estimated_sites(const Symbol* x, const float* score, float* out, double* room) const;

 private:
  const Domain& domain_;
  Balancing balancing_;
  int window_;
};

}  // namespace saltus
