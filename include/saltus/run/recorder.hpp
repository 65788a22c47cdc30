// Recorder: what is kept of the draws of a run.
#pragma once

#include <span>

#include "saltus/core/bytes.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

class Recorder {
 public:
  virtual ~Recorder() = default;

  // Before a round that makes at most `draws` draws of every chain.
  virtual void begin_round(std::uint64_t /*draws*/) {}
  // Draw number `draw` of the round, of the tile's chains. Called by the tile's thread; no two
  // threads share a chain.
  virtual void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) = 0;
  // After the round, on the main thread.
  virtual void end_round() {}

  virtual bool wants_logp() const = 0;
  // Memory that a draw of all chains takes within a round, in bytes.
  virtual std::size_t bytes_per_draw() const { return 0; }

  // Takes in the chains of another recorder of the same kind, which recorded as many draws: they
  // follow the present ones. Throws UsageError where that is not possible.
  virtual void merge(const Recorder&) { throw UsageError("what was recorded cannot be merged"); }

  virtual void save(ByteWriter& out) const = 0;
  virtual void restore(ByteReader& in) = 0;
};

}  // namespace saltus
