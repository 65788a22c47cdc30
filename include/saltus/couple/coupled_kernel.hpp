// Two chains that move by the same kernel and share their random numbers so that they meet: Jacob,
// O'Leary & Atchadé, "Unbiased Markov chain Monte Carlo methods with couplings", JRSS B 2020. Each
// of them alone is a chain of the sampler; once equal they stay equal.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Which random numbers a step uses: those of a pair of chains and a step number.
struct CoupledStep {
  std::uint64_t seed = 1;
  std::uint32_t pair = 0;
  std::uint64_t number = 0;

  Stream stream(Purpose purpose) const { return {seed, pair, number, purpose}; }
};

class CoupledKernel {
 public:
  virtual ~CoupledKernel() = default;

  // One transition of the tile's rows: of one chain, or of two that are to meet. On entry the tile
  // holds logp, score and cached values of its states, on return what the next step needs, logp
  // always. Uses work.proposal, which
  // has as many rows, and the thread's memory.
  virtual void step(Tile& tile, const CoupledStep& at, Workspace& work) const = 0;
};

// The coupling of a sampler on a target; both must outlive it. Throws UsageError, which names the
// samplers that serve, for one without a coupling, and for one whose steps are not all alike.
std::unique_ptr<CoupledKernel> make_coupled_kernel(const Target& target, const Sampler& sampler);

// A place from each of two laws on 0, 1, ..., equal as often as any two such draws can be. The
// numbers are uniform(first) of the stream and, where the places differ, the next two. With two
// places both take place 1 when one number is below its probability.
struct CoupledDraw {
  int x, y;
};
CoupledDraw couple_draws(std::span<const double> p, std::span<const double> q, const Stream& stream,
                         std::uint32_t first);

}  // namespace saltus
