// The scan that the options of a Gibbs sampler name.
#pragma once

#include "saltus/core/domain.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus {

// Groups of colours are no blocks: they count as a systematic scan of single coordinates.
inline Scan scan_of(const GibbsOptions& options, const Domain& domain) {
  using Order = GibbsOptions::Scan;
  const Scan::Kind kind = options.scan == Order::permutation ? Scan::Kind::permutation
                          : options.scan == Order::random    ? Scan::Kind::random
                                                             : Scan::Kind::systematic;
  return Scan(kind, domain.dim(), options.block);
}

}  // namespace saltus
