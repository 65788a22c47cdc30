// Chains that live in the memory of a device, a GPU say: the part of an Ensemble and of an
// Annealing that runs there. Nothing waits for the host inside a call.
#pragma once

#include <cstdint>
#include <span>

#include "saltus/sampler/sampler.hpp"
#include "saltus/target/independent.hpp"

namespace saltus {

class StepObserver;

class DeviceChains {
 public:
  virtual ~DeviceChains() = default;

  // True when the device has a kernel for this sampler, where the chains have this base (null:
  // none). Others run on the host, through Target::evaluate.
  virtual bool serves(const Sampler& sampler, const Independent* base) const = 0;

  // The random numbers of row r are those of chain first_chain + r.
  virtual void count_chains_from(std::uint32_t first_chain) = 0;
  virtual void put_states(Rows<const Symbol> states) = 0;
  virtual void get_states(Rows<Symbol> states) const = 0;

  // Computes the target's logp (written to `logp`, one per chain) and score of all states, which
  // stay on the device; by the mini-batch of this step, where the target has such. Must be called
  // after put_states and after the target's parameters have changed.
  virtual void evaluate(std::uint64_t step, std::span<double> logp) = 0;

  // What the chains are at: p^beta p_0^(1 - beta), p being the target. Without a base, beta is 1.
  struct Law {
    const Independent* base = nullptr;
    double beta = 1;
  };

  // Steps `step`, ..., `step + steps - 1` of all chains, in the same law and with the same random
  // numbers as Sampler::step on a Tempered target. The observer sees every step in turn, called by
  // the calling thread, with one tile on the host whose states and logp are there where it wants
  // them; score and cached values are not.
  virtual void advance(const Sampler& sampler, const Law& law, std::uint64_t step,
                       std::uint64_t steps, StepObserver& observer) = 0;

  // Moves along the path of Tempered distributions from `base` to the target: move k adds
  // (betas[k + 1] - betas[k]) (log p - log p_0)(x) to a chain's log weight, then makes
  // steps_per_beta steps at betas[k + 1], the first of them number `step`. After the last move
  // there are no steps when `stop_short`. Adds the acceptance probabilities of all steps to
  // `acceptance`. put_states (and so evaluate) come first.
  struct Annealed {
    std::span<double> log_weights, acceptance;  // one per chain
  };
  struct Path {
    const Independent* base;
    std::span<const double> betas;
    int steps_per_beta;
    bool stop_short;
  };
  virtual void anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
                      const Annealed& out) = 0;

  virtual Evaluations evaluations() const = 0;  // of steps, since reset
  virtual void reset_evaluations() = 0;
};

}  // namespace saltus
