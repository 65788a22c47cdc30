// All chains of a run: their states in tiles, and the threads that advance them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/run/device_chains.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Told of every step of every tile, by the thread that runs the tile.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // True when logp must be there after step `step` of the call (counted from 0).
  virtual bool wants_logp(std::uint64_t step) const = 0;
  // False when nobody looks at the states after that step: chains on a device need not send them,
  // and the tile may come without (Tile::x null, rows() as ever).
  virtual bool wants_states(std::uint64_t /*step*/) const { return true; }
  virtual void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) = 0;
};

// Where the target is on a device (Target::on_device), so are the chains, as long as the samplers
// are ones that the device serves; any other sampler runs here.
class Ensemble {
 public:
  // tile 0: what the target prefers. threads 0: as many as there are cores.
  Ensemble(const Target& target, int chains, int tile, int threads, std::uint64_t seed);

  int chains() const { return chains_; }
  int threads() const { return pool_.threads(); }  // that share the work
  int tile_size() const { return tile_size_; }
  std::uint64_t step() const { return step_; }
  // The state of one chain. Fetches all states from a device that has changed them since the last
  // call: not while another thread does the same.
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
  Symbol* row(int chain) const;
  void check_finite(int chain, double logp) const;

  bool on_device() const { return device_ && target_.on_device(); }
  void leave_device();
  void forget_values();
  void evaluate_on_device();
  void advance_on_device(const Sampler& sampler, std::uint64_t steps, StepObserver& observer);

  const Target& target_;
  int chains_, tile_size_;
  std::string owner_;     // the sampler that the tiles' own values belong to
  bool carried_ = false;  // logp, score and kept values carry rounding from earlier steps
  std::uint64_t seed_, step_ = 0;
  std::vector<std::unique_ptr<Storage>> tiles_;
  std::vector<std::unique_ptr<Thread>> threads_;
  ThreadPool pool_;
  std::unique_ptr<DeviceChains> device_;
  // The newest states are here; they are on the device, with what goes with them. One always is.
  mutable bool states_here_ = true;
  bool device_ready_ = false;
};

}  // namespace saltus
