// All chains of a run: their states in tiles, and the threads that advance them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Told of every step of every tile, by the thread that runs the tile.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // True when logp must be there after step `step` of the call (counted from 0).
  virtual bool wants_logp(std::uint64_t step) const = 0;
  virtual void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) = 0;
};

class Ensemble {
 public:
  // tile 0: what the target prefers. threads 0: as many as there are cores.
  Ensemble(const Target& target, int chains, int tile, int threads, std::uint64_t seed);

  int chains() const { return chains_; }
  int tile_size() const { return tile_size_; }
  std::uint64_t step() const { return step_; }
  // The state of one chain.
  const Symbol* state(int chain) const;

  // Uniform over all levels; unbounded integers start at 0 to 9.
  void start_random();
  // Throws DataError when a level is out of range.
  void start_from(Rows<const Symbol> states, std::uint64_t step = 0);

  // Gives the chains numbers from `first` on (at first: from 0), on which their random numbers
  // depend.
  void count_chains_from(std::uint32_t first);

  // Computes logp and score of all states. Throws DataError when a logp is not finite.
  void evaluate();
  void advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer);
  Evaluations evaluations() const;  // of all chains, since the start
  void reset_evaluations();

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  struct Storage {  // what a Tile points into
    RowBuffer<Symbol> x;
    RowBuffer<float> score, kept, own;
    std::vector<double> logp;
    Tile tile;
    Storage(const Target& target, int rows);
    void make_own(int size);
  };
  struct Thread {
    Storage proposal;
    Workspace work;
    std::vector<StepInfo> info;
  };

  void set_states(Rows<const Symbol> states);
  void make_ready(const Sampler& sampler, Tile& tile, Workspace& work) const;

  const Target& target_;
  int chains_, tile_size_;
  std::string owner_;     // the sampler that the tiles' own values belong to
  bool carried_ = false;  // logp, score and kept values carry rounding from earlier steps
  std::uint64_t seed_, step_ = 0;
  std::vector<std::unique_ptr<Storage>> tiles_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ThreadPool pool_;
};

}  // namespace saltus
