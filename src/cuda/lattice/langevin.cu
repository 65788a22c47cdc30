#include "cuda/lattice/langevin.hpp"

#include "cuda/lattice/launch.cuh"

namespace saltus::cuda {
namespace {

template <bool kAdjust>
struct Langevin {
  using Entry = SiteEntry;
  static constexpr bool kLone = true;
  template <class Kind, int kOwn, bool kAligned, class Team>
  static __device__ void large(const Team& team, const LatticeSteps& steps,
                               const LatticeMemory& memory, int chain) {
    LangevinLattice<Kind, kOwn, kAligned, Team>(team, steps, memory, chain)
        .template advance<kAdjust>();
  }
  template <class Kind>
  static __device__ void small(const WarpTeam& team, const LatticeSteps& steps, const Entry* table,
                               int chain) {
    SmallLangevinLattice<Kind, WarpTeam>(team, steps, table, chain).template advance<kAdjust>();
  }
  template <class Kind>
  static __device__ void lone(const WarpTeam& team, const LatticeSteps& steps,
                              const std::uint32_t* table, int chain) {
    LoneLangevinLattice<Kind, WarpTeam>(team, steps, table, chain).template advance<kAdjust>();
  }
};

}  // namespace

bool lattice_fits(const LatticeShape& shape) {
  return shape.words <= 4 * lattice_launch::kThreadsOfFour;
}

void launch_langevin(cudaStream_t stream, const LatticeSteps& steps, bool field, bool adjust) {
  with_kind(steps.shape, field, [&](auto kind) {
    adjust ? launch_kind<Langevin<true>, decltype(kind)>(stream, steps)
           : launch_kind<Langevin<false>, decltype(kind)>(stream, steps);
  });
}

}  // namespace saltus::cuda
