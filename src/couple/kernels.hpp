// The couplings by sampler.
#pragma once

#include <memory>

#include "saltus/couple/coupled_kernel.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"

namespace saltus {

std::unique_ptr<CoupledKernel> couple_dmala(const Target& target, const Dlp& sampler);
std::unique_ptr<CoupledKernel> couple_gibbs(const Target& target, const Gibbs& sampler);

}  // namespace saltus
