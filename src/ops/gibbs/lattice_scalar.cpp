// Heat-bath updates of an Ising lattice: the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

struct Neighbours {
  std::size_t degree = 0, up = 0;
};

// Along one side of the lattice: the sites before and after `at`, which is itself at x. Two
// neighbours that are one site have one edge.
void add_along(int at, int length, std::ptrdiff_t stride, bool periodic, const Symbol* x,
               Neighbours& n) {
  const auto add = [&](int other) {
    ++n.degree;
    n.up += x[(other - at) * stride];
  };
  const bool wraps = periodic && length > 2;
  if (at > 0) add(at - 1);
  if (at + 1 < length) add(at + 1);
  if (wraps && at == 0) add(length - 1);
  if (wraps && at + 1 == length) add(0);
}

}  // namespace

uint32_t gibbs_lattice(const LatticeGibbs& lattice, int colour, Symbol* x, const Stream& stream,
                       uint32_t first_word) {
  uint32_t changed = 0, word = first_word;
  for (int r = 0; r < lattice.rows; ++r) {
    for (int c = (r + colour) % 2; c < lattice.cols; c += 2) {
      Symbol& site = x[static_cast<std::ptrdiff_t>(r) * lattice.cols + c];
      Neighbours n;
      add_along(c, lattice.cols, 1, lattice.periodic, &site, n);
      add_along(r, lattice.rows, lattice.cols, lattice.periodic, &site, n);
      const Symbol drawn = stream.word(word++) >> 1 < lattice.threshold[n.degree][n.up];
      changed += drawn != site;
      site = drawn;
    }
  }
  return changed;
}

}  // namespace saltus::ops::scalar
