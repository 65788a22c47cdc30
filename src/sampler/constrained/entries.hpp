// The registry's entries of samplers under a constraint, each made in the file of its sampler. They
// have the names of the samplers whose proposals they condition.
#pragma once

#include "saltus/sampler/registry.hpp"

namespace saltus {

SamplerEntry constrained_dmala_entry();
SamplerEntry constrained_gibbs_entry();
SamplerEntry constrained_gwg_entry();
SamplerEntry constrained_locally_balanced_entry();
SamplerEntry constrained_pas_entry();

}  // namespace saltus
