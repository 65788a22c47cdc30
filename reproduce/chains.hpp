// Chains of an experiment: a sampler's steps from given states, every state shown to a function.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

#include "saltus/run/ensemble.hpp"

namespace saltus::reproduce {

// visit(chain, step, state, info) after every step of every chain.
template <class Visit>
class Visitor final : public StepObserver {
 public:
  explicit Visitor(Visit visit) : visit_(std::move(visit)) {}
  bool wants_logp(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (int r = 0; r < tile.rows(); ++r) {
      visit_(static_cast<int>(tile.first_slot) + r, step, tile.x[r],
             info[static_cast<std::size_t>(r)]);
    }
  }

 private:
  Visit visit_;
};

// On the calling thread alone: experiments run whole chains side by side.
template <class Visit>
void run_chains(const Target& target, const Sampler& sampler, Rows<const Symbol> start,
                std::uint64_t steps, std::uint64_t seed, Visit visit) {
  Ensemble ensemble(target, start.rows, start.rows, 1, seed);
  ensemble.start_from(start);
  ensemble.evaluate();
  Visitor<Visit> visitor(std::move(visit));
  ensemble.advance(sampler, steps, visitor);
}

// Steps that nobody looks at.
inline void advance(Ensemble& ensemble, const Sampler& sampler, std::uint64_t steps) {
  Visitor nothing([](int, std::uint64_t, const Symbol*, const StepInfo&) {});
  ensemble.advance(sampler, steps, nothing);
}

// Rows of `cols` entries, row r from row(r) on.
template <class Row>
RowBuffer<Symbol> gathered(int rows, int cols, Row row) {
  RowBuffer<Symbol> x(rows, cols);
  for (int r = 0; r < rows; ++r) std::copy_n(row(r), cols, x.view()[r]);
  return x;
}

inline RowBuffer<Symbol> states_of(const Ensemble& ensemble, int dim) {
  return gathered(ensemble.chains(), dim, [&](int chain) { return ensemble.state(chain); });
}

// Rows of bits that are 1 with the probabilities `mean`; row r belongs to chain first_chain + r.
inline RowBuffer<Symbol> independent_bits(const std::vector<double>& mean, int rows,
                                          std::uint32_t first_chain, std::uint64_t seed) {
  RowBuffer<Symbol> x(rows, static_cast<int>(mean.size()));
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, first_chain + static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      x.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < mean[i];
    }
  }
  return x;
}

// Of the processor, for the calling thread.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace saltus::reproduce
