#include "cuda/lattice/gibbs.hpp"

#include "cuda/lattice/launch.cuh"

namespace saltus::cuda {
namespace {

struct Sweeps {
  using Entry = SiteEntry;
  static constexpr bool kLone = false;
  template <class Kind, int kOwn, bool kAligned, class Team>
  static __device__ void large(const Team& team, const LatticeSteps& steps,
                               const LatticeMemory& memory, int chain) {
    GibbsLattice<Kind, kOwn, kAligned, Team>(team, steps, memory, chain).advance();
  }
  template <class Kind>
  static __device__ void small(const WarpTeam& team, const LatticeSteps& steps, const Entry* table,
                               int chain) {
    SmallGibbsLattice<Kind, WarpTeam>(team, steps, table, chain).advance();
  }
};

}  // namespace

void launch_gibbs(cudaStream_t stream, const LatticeSteps& steps) {
  steps.shape.all_have_four() ? launch_kind<Sweeps, LatticeKind<true, true>>(stream, steps)
                              : launch_kind<Sweeps, LatticeKind<false, true>>(stream, steps);
}

}  // namespace saltus::cuda
