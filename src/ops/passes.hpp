// Declarations of one instruction set's passes; see ops.hpp for what each does.
#pragma once

#include "ops/ops.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

Proposed propose_two_level(const TwoLevelLaw&, int n, const Symbol* x, const float* score,
                           Symbol* y, const Stream&, bool want_log_q);
double log_q_two_level(const TwoLevelLaw&, int n, const Symbol* from, const float* score,
                       const Symbol* to);
Proposed propose_levels(const LevelsLaw&, const Symbol* x, const float* score, Symbol* y,
                        const Stream&, bool want_log_q, float* room);
double log_q_levels(const LevelsLaw&, const Symbol* from, const float* score, const Symbol* to,
                    float* room);
LatticeSums lattice(const Lattice&, const Symbol* x, float* score);
void sparse_fields(const SparseFields&, Rows<const Symbol> x, Rows<float> score, double* logp,
                   float* room);
double activate(int n, const float* z, float* activation, bool want_softplus);
double softplus_change(int n, const float* z, const float* w, float change);
void add_rows(int n, Rows<const float> matrix, const ScaledRow* terms, int count, const float* from,
              float* to);
double weigh_values(int n, const Symbol* x, float first_value, float spacing, const float* a,
                    const double* b);
uint32_t gibbs_lattice(const LatticeGibbs&, int colour, Symbol* x, const Stream&,
                       uint32_t first_word);
void gibbs_pairs(const PairGibbs&, Rows<Symbol> x, const int32_t* order, int count, const Stream&,
                 uint32_t first_word, uint32_t* changed, uint16_t* room);
uint32_t gibbs_dense(const DenseGibbs&, Symbol* x, float* score, const int32_t* order, int count,
                     const Stream&, uint32_t first_word);
void gibbs_spins(const SpinGraph&, const SpinOdds&, uint64_t* spins, const int32_t* order,
                 int count, const Stream&, int groups, int32_t* gain);
uint64_t common_bits(const uint64_t* x, const uint64_t* y, std::size_t count, unsigned shift);
void tanh_unit(int n, float bias, float weight, float* z, float* sum);
double squared_errors(int n, const float* logit, const float* y, float factor, float* slope);
UnitSlopes tanh_unit_slopes(int n, float weight, const float* slope, float* t);
FlipRule flip_rule(const TwoLevelLaw&, Symbol x, float score);

// This instruction set's table.
extern const Ops table;

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
