// One instruction set's table. Compiled once per level, the scalar one included.
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

extern const Ops table = {propose_two_level, log_q_two_level,  propose_levels, log_q_levels,
                          lattice,           sparse_fields,    activate,       softplus_change,
                          add_rows,          weigh_values,     gibbs_lattice,  gibbs_pairs,
                          gibbs_dense,       gibbs_spins,      common_bits,    tanh_unit,
                          squared_errors,    tanh_unit_slopes, flip_rule};

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
