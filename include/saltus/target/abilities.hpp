// What a target may be able to do beyond evaluating states. Samplers ask for these abilities
// (Target::local_moves and so on) and refuse, in words, a target that lacks one they cannot do
// without.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/core/scratch.hpp"

namespace saltus {

struct At;
struct Stream;
class DeviceChains;

// One row of a tile with what is kept up to date along with it. score and target_cache are null
// where nobody keeps them; x always counts.
struct LocalRow {
  Symbol* x = nullptr;
  float* score = nullptr;
  float* target_cache = nullptr;
};

// Changes of single coordinates at less than the cost of an evaluation.
class LocalMoves {
 public:
  virtual ~LocalMoves() = default;

  // True when `move` keeps the score up to date at about the cost of `differences` times the number
  // of neighbours. False: rows are given without a score.
  virtual bool moves_keep_score() const = 0;
  // True when `differences` and `move` need the row's score or its cached values.
  virtual bool need_score() const { return false; }
  virtual bool need_target_cache() const { return false; }
  // True when differences are exact to double precision: they use no score or cached value that
  // carries the rounding of single precision.
  virtual bool in_double() const { return !need_score() && !need_target_cache(); }

  // out[m] = logp(x with level first + m at coordinate i) - logp(x), m = 0 .. count - 1.
  virtual void differences(const LocalRow& row, int i, int first, int count, double* out) const = 0;

  // Sets coordinate i to a level, and brings score and target_cache (where not null) up to date.
  virtual void move(const LocalRow& row, int i, Symbol to) const = 0;

  // The coordinates whose differences and scores depend on coordinate i; i itself may be among
  // them. `room` holds max_neighbours() entries; the result may lie there or in the target.
  virtual std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const = 0;
  virtual int max_neighbours() const = 0;
  // About how many numbers `differences` reads, at most.
  virtual int work() const { return max_neighbours(); }
};

// Many single-coordinate Gibbs updates in one call, where a target can do better than one at a
// time. Random numbers are those of Purpose::level; probabilities may be rounded to 31 bits.
class GibbsSweeps {
 public:
  virtual ~GibbsSweeps() = default;

  struct Draws {
    std::uint64_t seed, step;
    std::uint32_t first_chain, first_word;
  };

  // Draws coordinates order[0], order[1], ... of every row from their conditional distributions,
  // one after the other. The t-th update of row r takes word `first_word + t` (Stream::sequence) of
  // the stream of chain first_chain + r. Adds the number of changes to changed[r].
  virtual void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                      const Draws& draws, std::uint32_t* changed) const = 0;

  // Groups of coordinates that do not interact, one group after the other; 0 when the target does
  // not know any. `update_group` draws all coordinates of one group: the k-th of them, in
  // increasing order, takes word `first_word + k` (Stream::word), first_word being a multiple
  // of 64.
  virtual int groups() const { return 0; }
  virtual void update_group(const At&, Rows<Symbol>, int /*group*/, const Draws&,
                            std::uint32_t* /*changed*/) const {}
  // The coordinates of a group, in increasing order, for exact checks.
  virtual std::vector<std::int32_t> group(int) const { return {}; }
};

// log p between the levels: at any real values of the coordinates. For two-level domains.
class Relaxation {
 public:
  virtual ~Relaxation() = default;
  // logp and its gradient at rows of values (in the domain's own values: -1/+1 for spins). A null
  // output is not wanted.
  virtual void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                Rows<float> gradient) const = 0;
};

// Binary hidden units given which the coordinates (0/1) are independent, and the other way round.
class HiddenUnits {
 public:
  virtual ~HiddenUnits() = default;
  virtual int hidden() const = 0;
  // The log-odds that a hidden unit is on given x, and that a coordinate is 1 given hidden units
  // (0 or 1 each).
  virtual void hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const = 0;
  virtual void visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const = 0;
  // True when draws of the hidden units given x, then of x given these, leave the target itself
  // invariant. Otherwise they leave a law q invariant, and a Metropolis test makes up for the
  // difference: log p(x) - log q(x) is, up to a constant, the sum of log_correction over the
  // log-odds of all hidden units at x.
  virtual bool leaves_target_invariant() const { return true; }
  virtual double log_correction(double /*hidden_log_odds*/) const { return 0; }
  // The same for one row in double precision, for exact checks.
  virtual void hidden_log_odds_exact(const Symbol* x, double* out) const = 0;
  virtual void visible_log_odds_exact(const Symbol* hidden, double* out) const = 0;
};

// Some states have probability 0: log p is -inf there. Scores of such a target stay finite, so that
// a proposal can cross a forbidden state: see Factors.
class ForbiddenStates {
 public:
  virtual ~ForbiddenStates() = default;
  // LocalMoves::differences put this number in place of each infinite part of log p that a change
  // meets, or minus this for one that it leaves. So differences add up along any path, and exp of
  // minus half of it is 0 beside whatever else occurs.
  virtual double penalty() const = 0;
  // Changes x, any levels in range, until its log p is finite. False when no such state was found.
  virtual bool make_allowed(const Stream& stream, Symbol* x) const = 0;
};

// A target whose evaluations happen on a device, where whole chains can stay.
class OnDevice {
 public:
  virtual ~OnDevice() = default;
  virtual std::unique_ptr<DeviceChains> make_chains(int chains, std::uint64_t seed) const = 0;
  // True when Gibbs samplers that draw every coordinate in a step, group by group (GibbsSweeps),
  // run there; others draw one coordinate a step.
  virtual bool sweeps_there() const { return false; }
};

}  // namespace saltus
