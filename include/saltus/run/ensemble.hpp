// All chains of a process: their states in tiles, and the threads that advance them.
//
// The chains form groups. A group has one target, and all of its chains take steps of one sampler
// at one inverse temperature: plain sampling is one group at beta = 1, annealing moves the beta of
// a group along a schedule, tempering has a group for each temperature of its ladder.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/run/device_chains.hpp"
#include "saltus/sampler/sampler.hpp"
#include "saltus/target/tempered.hpp"

namespace saltus {

// A chain stands where the model's log p is not finite.
struct StartError : DataError {
  using DataError::DataError;
};

// Brings the random start of a chain to a state that the model allows. Throws StartError when none
// was found.
void allow(const ForbiddenStates& forbidden, std::uint64_t seed, std::uint32_t chain, Symbol* x);

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
  // True when sums will do for steps after which neither states nor logp are wanted: chains on a
  // device may then add up what those did, chain by chain from place `first_slot` on, and tell of
  // several steps at once.
  virtual bool takes_sums() const { return false; }
  virtual void after_steps(std::uint32_t /*first_slot*/, std::span<const StepSums>) {}
};

// Told of the scans of tempering, by the thread that runs the ensembles concerned.
class ScanObserver {
 public:
  virtual ~ScanObserver() = default;
  virtual void after_step(int slot, const Tile& tile, std::span<const StepInfo> info) = 0;
  // The tile of the last slot, at beta = 1, once the scan has explored.
  virtual void explored(const Tile& tile, std::span<const StepInfo> info, std::uint64_t scan) = 0;
  // What a scan did to one ensemble. V = log p - log p_0 by slot, before exploring and after it,
  // NaN where it is not known; swapped[k]: slots k and k + 1 exchange their states.
  struct Exchange {
    std::span<const double> before, after;
    std::span<const std::uint8_t> swapped;
  };
  virtual void exchanged(int ensemble, std::uint64_t scan, const Exchange& exchange) = 0;
};

// With a base, the chains are at p^beta p_0^(1 - beta); without one, beta is 1.
struct ChainGroup {
  const Target* target = nullptr;  // must outlive the ensemble
  int chains = 1;
  std::shared_ptr<const Independent> base = nullptr;
  double beta = 1;
  std::optional<std::uint32_t> first_chain = {};  // a name for the first, in place of the plan's
};

struct EnsemblePlan {
  std::uint64_t seed = 1;
  int threads = 0;  // 0: as many as there are cores
  int tile = 0;     // chains advanced together; 0: what the target prefers
  // The name of the first chain, on which its random numbers depend. The others follow.
  std::uint32_t first_chain = 0;
};

// Where a target is on a device (Target::on_device), so are the chains of its group, as long as the
// samplers are ones that the device serves; any other sampler runs here.
class Ensemble {
 public:
  Ensemble(std::vector<ChainGroup> groups, const EnsemblePlan& plan);
  Ensemble(const Target& target, int chains, int tile, int threads, std::uint64_t seed)
      : Ensemble({{&target, chains}}, {seed, threads, tile}) {}
  ~Ensemble();

  int chains() const { return chains_; }
  int groups() const { return static_cast<int>(groups_.size()); }
  int threads() const { return pool_.threads(); }  // that share the work
  int tile_size() const;                           // of the first group
  std::uint64_t step() const { return step_; }
  // The state of the chain at a place, counted through all groups. Fetches all states from a device
  // that has changed them since the last call: not while another thread does the same.
  const Symbol* state(int slot) const;

  // Uniform over all levels; unbounded integers start at 0 to 9. Where the model has forbidden
  // states, from there to one that it allows; where it has a constraint, uniform over what that
  // allows.
  void start_random();
  // The states of Start::dispersed (run.hpp). Where the model forbids one, or has a constraint,
  // that of start_random.
  void start_dispersed();
  // Draws of the groups' bases, which they must have.
  void start_from_base();
  // Throws DataError when a level is out of range, or the model's constraint is broken.
  void start_from(Rows<const Symbol> states, std::uint64_t step = 0);

  // Gives the chains names from `first` on.
  void count_chains_from(std::uint32_t first);

  // The inverse temperature of a group that has a base. A change takes no evaluation.
  double beta(int group) const;
  void set_beta(int group, double beta);

  // Computes logp and score of all states. Throws StartError when a logp is not finite.
  void evaluate();
  // Steps of all chains, by one sampler or by one for each group.
  void advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer);
  void advance(std::span<const Sampler* const> samplers, std::uint64_t steps,
               StepObserver& observer);

  // Moves all chains along betas. They must be at the first of these; see DeviceChains::anneal.
  struct Schedule {
    std::span<const double> betas;
    int steps_per_beta = 1;
    bool stop_short = false;
    StepObserver* observer = nullptr;  // told of every step, counted from 0; chains stay here then
  };
  using Annealed = DeviceChains::Annealed;  // indexed by place
  void anneal(const Sampler& sampler, const Schedule& schedule, const Annealed& out);

  // Scans of parallel tempering. The groups are the slots of a ladder, from beta = 1 down to 0, and
  // the chains at one place within them are an ensemble. A scan takes `steps` steps in each slot,
  // by its sampler, and fresh draws of the base at beta = 0; then it tries to exchange the states
  // of slots k and k + 1, for the k that are even as the scan's number is or odd as it is.
  // samplers[g] is the one of group g; that of the base is not used.
  struct Scans {
    std::uint64_t first, count;
    int steps = 1;
  };
  void temper(std::span<const Sampler* const> samplers, const Scans& scans, ScanObserver& observer);

  Evaluations evaluations() const;  // of all chains, since the start
  void reset_evaluations();

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  struct Storage;          // a tile with its memory
  struct ThreadWorkspace;  // what a thread lends to the tiles of a group
  struct Group;

  void make_tiles(Group& group, int first_slot, const EnsemblePlan& plan);
  Group& group_of(int slot) const;
  Symbol* row(int slot) const;
  void set_states(Rows<const Symbol> states);
  void check_finite(const Tile& tile, int r, double logp) const;
  template <class Work>
  void for_tiles(const Work& work);

  void anneal_tile(Storage& storage, ThreadWorkspace& thread, const Sampler& sampler,
                   const Schedule& schedule, const Annealed& out) const;
  void log_ratios(Storage& storage, Workspace& work, std::span<double> out) const;
  void start_cache(Group& group, const Sampler& sampler);
  Storage& tile_of(int group, int column) const;
  void refresh(Storage& storage, Workspace& work, const Sampler& above, std::uint64_t scan) const;
  void explore(Storage& storage, ThreadWorkspace& thread, std::span<const Sampler* const> samplers,
               std::uint64_t scan, int steps, ScanObserver& observer) const;
  void exchange(int column, std::uint64_t scan, ScanObserver& observer) const;
  static void swap_rows(Storage& a, Storage& b, int r);

  bool on_device(const Group& group) const;
  bool device_serves(const Group& group, const Sampler& sampler) const;
  void fetch_states(const Group& group) const;
  void leave_device(Group& group);
  void forget_values(Group& group);
  void evaluate_on_device(Group& group);
  void advance_on_device(Group& group, const Sampler& sampler, std::uint64_t steps,
                         StepObserver& observer);

  std::vector<std::unique_ptr<Group>> groups_;
  int chains_ = 0;
  std::uint64_t seed_, step_ = 0;
  std::vector<std::unique_ptr<Storage>> tiles_;  // of all groups, in order
  ThreadPool pool_;
};

}  // namespace saltus
