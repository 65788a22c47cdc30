// The order into which NumPy's RandomState brings n things: published splits of data sets are
// defined by it.
#pragma once

#include <cstdint>
#include <vector>

namespace saltus {

// RandomState(seed).permutation(n): entry k is the place from which thing k comes.
// RandomState(seed).shuffle orders rows in the same way.
std::vector<std::int32_t> numpy_permutation(std::uint32_t seed, int n);

}  // namespace saltus
