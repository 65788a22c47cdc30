// Which samplers have kernels on the GPU, for two-level coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/sampler/gwg.hpp"
#include "sampler/gibbs/gibbs_scan.hpp"

namespace saltus::cuda {

enum class Kernel { none, dmala, dula, gwg, gibbs };

inline Kernel kernel_for(const Sampler& sampler) {
  if (const auto* dlp = dynamic_cast<const Dlp*>(&sampler)) {
    return dlp->options().adjust ? Kernel::dmala : Kernel::dula;
  }
  if (const auto* gwg = dynamic_cast<const Gwg*>(&sampler)) {
    const GwgOptions& o = gwg->options();
    const bool served = o.flips == 1 && o.balancing == Balancing::sqrt && !o.exact;
    return served ? Kernel::gwg : Kernel::none;
  }
  if (const auto* gibbs = dynamic_cast<const Gibbs*>(&sampler)) {
    const GibbsOptions& o = gibbs->options();
    const bool served =
        o.block == 1 && gibbs->updates() == 1 && o.scan != GibbsOptions::Scan::colours;
    return served ? Kernel::gibbs : Kernel::none;
  }
  return Kernel::none;
}

// The coordinates that steps `step`, step + 1, ... of a served Gibbs sampler draw; none when every
// chain draws its own.
inline std::vector<std::int32_t> sites_of(const Gibbs& gibbs, const Domain& domain,
                                          std::uint64_t seed, std::uint64_t step,
                                          std::uint64_t steps) {
  std::vector<std::int32_t> sites;
  const Scan scan = scan_of(gibbs.options(), domain);
  if (!scan.shared()) return sites;
  Scratch own;
  for (std::uint64_t k = 0; k < steps; ++k) sites.push_back(scan.block(seed, step + k, own)[0]);
  return sites;
}

}  // namespace saltus::cuda
