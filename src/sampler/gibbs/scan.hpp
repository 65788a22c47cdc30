// Which coordinates an update draws anew: the next `block` ones of a pass over all coordinates, or
// some at random.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/sampler/gibbs.hpp"

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

// The scan that the options of a Gibbs sampler name. Groups of colours are no blocks: they count as
// a systematic scan of single coordinates.
inline Scan scan_of(const GibbsOptions& options, const Domain& domain) {
  using Order = GibbsOptions::Scan;
  const Scan::Kind kind = options.scan == Order::permutation ? Scan::Kind::permutation
                          : options.scan == Order::random    ? Scan::Kind::random
                                                             : Scan::Kind::systematic;
  return Scan(kind, domain.dim(), options.block);
}

inline bool knows_groups(const Target& target) {
  return target.gibbs_sweeps() && target.gibbs_sweeps()->groups() > 0;
}

// All coordinates, group by group; every coordinate joins the first group in which it has no
// neighbour (a greedy colouring of the graph of interactions).
std::vector<std::int32_t> in_colours(const LocalMoves& local, int dim);

}  // namespace saltus
