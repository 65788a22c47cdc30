// Target: the distribution to sample from, pi(x) proportional to exp(logp(x)).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/target/abilities.hpp"

namespace saltus {

class Constraint;

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
  // output is not wanted. Rows are independent of one another. Once the scratch has grown it should
  // not allocate; several threads may call it at once. What it throws ends the run:
  // ComputationError where the model's own code fails.
  virtual void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                        Rows<float> score) const = 0;

  // Values that the target keeps per row for its own use beside the score (pre-activations of
  // hidden units, say), so that a state near an evaluated one costs less. 0: none.
  virtual int cache_size() const { return 0; }
  // evaluate, with the cached values as a third output.
  virtual void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp,
                                  Rows<float> score, Rows<float> cache) const;

  // evaluate_and_cache at rows y, given rows x that may differ from them in few coordinates, with
  // the score and cached values there. Results carry rounding from x to y; a sampler that steps
  // this way evaluates afresh now and then. cheap_near says whether this ever costs less.
  struct Evaluated {
    Rows<const Symbol> x;
    Rows<const float> score, target_cache;
  };
  virtual bool cheap_near() const { return false; }
  virtual void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y,
                             double* logp, Rows<float> score, Rows<float> cache) const;

  // The same with the score in double precision, for exact checks. Unless overridden it widens the
  // score of `evaluate`.
  virtual void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                              Rows<double> score) const;

  // True when evaluate returns unbiased estimates from a mini-batch. The Metropolis test is then
  // wrong, and adjusted samplers refuse the target.
  virtual bool stochastic() const { return false; }

  // Which states there are, where not all of the domain: pi is restricted to them. Null: all.
  virtual const Constraint* constraint() const { return nullptr; }

  // Optional abilities; null where the target lacks one. See abilities.hpp.
  virtual const LocalMoves* local_moves() const { return nullptr; }
  virtual const GibbsSweeps* gibbs_sweeps() const { return nullptr; }
  virtual const Relaxation* relaxation() const { return nullptr; }
  virtual const HiddenUnits* hidden_units() const { return nullptr; }
  virtual const ForbiddenStates* forbidden_states() const { return nullptr; }
  virtual const OnDevice* on_device() const { return nullptr; }

  // The model's own dimensions (rows and columns of a lattice, say), for output files and pictures.
  virtual std::vector<int> shape() const { return {domain().dim()}; }

  // How many chains are best evaluated together. Draws may depend on it in the last bits, so it
  // must not depend on the machine.
  virtual int preferred_tile() const { return domain().dim() < 256 ? 2 : 1; }
};

// logp and, where wanted, score of a single state, in double precision.
double logp_of(const Target& target, const Symbol* x, double* score = nullptr);

}  // namespace saltus
