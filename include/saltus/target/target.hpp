// Target: the distribution to sample from, pi(x) proportional to exp(logp(x)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/core/scratch.hpp"

namespace saltus {

// Where an evaluation happens. Only a stochastic target looks at seed and step: its mini-batch is a
// function of the two. The scratch is the calling thread's.
struct At {
  std::uint64_t seed = 0, step = 0;
  Scratch& scratch;
};

class Target {
 public:
  virtual ~Target() = default;

  virtual std::string name() const = 0;
  virtual const Domain& domain() const = 0;

  // For every row of x: logp, up to a constant, and the score, the gradient of the differentiable
  // extension of logp with respect to the coordinate's value (ordered; one per coordinate) or to
  // the one-hot entries (categorical; one per coordinate and level, at Domain::score_begin). A null
  // output is not wanted. Rows are independent of one another. Must neither throw nor, once the
  // scratch has grown, allocate; several threads may call it at once.
  virtual void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                        Rows<float> score) const = 0;

  // The same with the score in double precision, for exact checks. Unless overridden it widens the
  // score of `evaluate`.
  virtual void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                              Rows<double> score) const;

  // True when evaluate returns unbiased estimates from a mini-batch. The Metropolis test is then
  // wrong, and adjusted samplers refuse the target.
  virtual bool stochastic() const { return false; }

  // The model's own dimensions (rows and columns of a lattice, say), for output files and pictures.
  virtual std::vector<int> shape() const { return {domain().dim()}; }

  // How many chains are best evaluated together. Draws may depend on it in the last bits, so it
  // must not depend on the machine.
  virtual int preferred_tile() const { return domain().dim() < 256 ? 2 : 1; }
};

// logp and, where wanted, score of a single state, in double precision.
double logp_of(const Target& target, const Symbol* x, double* score = nullptr);

}  // namespace saltus
