// Draws of a block of coordinates from the target restricted to a Hamming ball: to the states that
// differ from a row's state in at most `radius` coordinates of the block, each at any other level.
// A radius as large as the block gives the block's full conditional distribution (Gibbs).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// The coordinates that every row draws anew.
struct Blocks {
  const std::int32_t* first = nullptr;
  int length = 0;
  int stride = 0;  // 0: the rows share one block

  std::span<const std::int32_t> of(int r) const {
    return {first + static_cast<std::ptrdiff_t>(r) * stride, static_cast<std::size_t>(length)};
  }
};

inline constexpr int kMostInBall = 1 << 20;

// The number of states of the largest ball that a block of this many coordinates can have; nothing
// when it is above kMostInBall.
std::optional<int> largest_ball(const Domain& domain, int block, int radius);

// What a target lacks for draws of blocks; see Sampler::missing.
std::string missing_for_blocks(const Target& target);

// The draws of one step. Uses slots 0 to 5 and 7 of the sampler's memory.
class BallDraws {
 public:
  // What the draws need on entry, and whether they carry values along; see Sampler.
  static Sampler::Needs needs(const Target& target);
  static bool accumulates_rounding(const Target& target) { return target.local_moves() != nullptr; }

  // `largest`: see largest_ball. Starts every entry of `info`.
  BallDraws(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info, int block,
            int radius, int largest);

  // Room for a block of every row.
  std::int32_t* room_for_blocks();

  // Moves every row to a state drawn uniformly from the ball around it.
  void jump(const Blocks& blocks);
  // Draws every row from the target restricted to the ball around it, and adds to `info` how it
  // compares with the state before, that is, before the jump if there was one. `update` counts the
  // draws of this step.
  void draw(const Blocks& blocks, std::uint32_t update);
  // After the last draw: counts the step and marks which cached values are stale. Every `period`
  // steps, what was carried along is evaluated afresh.
  void finish(std::uint64_t period);

 private:
  struct Change;
  void remember(const Blocks& blocks);
  void use_block(std::span<const std::int32_t> block);
  Symbol changed_level(const Change& change, const Symbol* x, int i) const;
  void weigh_by_moves(const Blocks& blocks, int r);
  void walk(const LocalRow& row, std::span<const std::int32_t> block, int at);
  void weigh_by_evaluation(const Blocks& blocks, int first, int rows);
  void settle(std::span<const std::int32_t> block, int r, int chosen, double log_weight);
  void evaluate(int first, int rows);
  LocalRow local_row(int r) const;
  Stream stream(int r, Purpose purpose) const;

  const Target& target_;
  const LocalMoves* local_;
  const Domain& domain_;
  Tile& tile_;
  Workspace& work_;
  std::span<StepInfo> info_;
  int block_, radius_;

  Change* changes_;  // of the block in use: all of the ball
  int size_ = 0;     // their number
  double *log_weight_ = nullptr, *weight_, *differences_;
  float* saved_ = nullptr;  // a row's score and cached values before moves, by depth of the moves
  std::int32_t *levels_, *before_;  // level counts of the block in use; every row's levels before
  int length_ = 0;                  // of the block in use
  bool jumped_ = false;
};

}  // namespace saltus
