// Which coordinates an update draws anew: the next `block` ones of a pass over all coordinates, or
// some at random.
#pragma once

#include <cstdint>
#include <span>

#include "saltus/core/philox.hpp"
#include "saltus/core/scratch.hpp"

namespace saltus {

class Scan {
 public:
  enum class Kind {
    permutation,  // passes in random order, each in its own; all chains share it
    systematic,   // 0, 1, 2, ...
    random,       // `block` distinct coordinates, drawn for every chain and update
  };
  Scan(Kind kind, int dim, int block) : kind_(kind), dim_(dim), block_(block) {}

  bool shared() const { return kind_ != Kind::random; }        // by all chains
  int blocks() const { return (dim_ + block_ - 1) / block_; }  // of a pass; the last may be shorter

  // For shared scans: the coordinates in the order of a pass, and the update's block of them, with
  // updates counted from the start of the run. Both lie in slot 6 of the sampler's memory, which
  // belongs to this class, and are a function of the arguments alone.
  std::span<const std::int32_t> order(std::uint64_t seed, std::uint64_t pass, Scratch& own) const;
  std::span<const std::int32_t> block(std::uint64_t seed, std::uint64_t update, Scratch& own) const;

  // For random scans: distinct coordinates. Uses the numbers first, first + 1, ... of the stream.
  void draw(const Stream& stream, std::uint32_t first, std::int32_t* out) const;

 private:
  Kind kind_;
  int dim_, block_;
};

}  // namespace saltus
