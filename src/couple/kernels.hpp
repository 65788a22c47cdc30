// The couplings by sampler.
#pragma once

#include <algorithm>
#include <memory>

#include "saltus/couple/coupled_kernel.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/sampler/gwg.hpp"
#include "saltus/sampler/pas.hpp"

namespace saltus {

std::unique_ptr<CoupledKernel> couple_dmala(const Target& target, const Dlp& sampler);
std::unique_ptr<CoupledKernel> couple_gibbs(const Target& target, const Gibbs& sampler);
std::unique_ptr<CoupledKernel> couple_gwg(const Target& target, const Gwg& sampler);
std::unique_ptr<CoupledKernel> couple_pas(const Target& target, const Pas& sampler);

// Row r of the tile becomes that of the proposals.
inline void keep_proposal(Tile& tile, const Tile& proposal, int r) {
  std::copy_n(proposal.x[r], tile.x.cols, tile.x[r]);
  std::copy_n(proposal.score[r], tile.score.cols, tile.score[r]);
  tile.logp[r] = proposal.logp[r];
}

}  // namespace saltus
