// The registry's entries, each made in the file of its sampler.
#pragma once

#include "saltus/sampler/registry.hpp"

namespace saltus {

SamplerEntry dmala_entry();
SamplerEntry dula_entry();
SamplerEntry rmala_entry();
SamplerEntry dsvgd_entry();
SamplerEntry dlmc_entry();
SamplerEntry rwm_entry();
SamplerEntry block_gibbs_entry();
SamplerEntry gwg_entry();
SamplerEntry locally_balanced_entry();
SamplerEntry pas_entry();
SamplerEntry gibbs_entry();
SamplerEntry hamming_ball_entry();

}  // namespace saltus
