// Divides one run into parts, in one process or in several. Each part has a range of the chains,
// and draws do not depend on the number of parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

class Target;

// What the parts share while they run. Every part calls at the same steps.
class Reduction {
 public:
  virtual ~Reduction() = default;
  // The values of all parts, in the order of their chains. Sums over them are then the same numbers
  // for any number of parts.
  virtual std::vector<double> gather(std::span<const double> values_of_this_part) = 0;
};

struct ChainRange {
  std::uint32_t first_chain;
  int chains;
};

// Divides `chains` chains among at most `parts` parts. Ranges begin with a tile (0: of the size
// that the target prefers), because the last bits of a dense model's values may depend on which
// chains are evaluated together.
std::vector<ChainRange> chain_ranges(const Target& target, int chains, int tile, int parts);

}  // namespace saltus
