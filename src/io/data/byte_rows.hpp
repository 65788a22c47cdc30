// Rows of bytes on their way to an ImageSet, and the order into which NumPy's RandomState brings n
// things: published splits of data sets are defined by it.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/io/data_file.hpp"
#include "saltus/io/image_set.hpp"

namespace saltus {

// RandomState(seed).permutation(n): entry k is the place from which thing k comes.
// RandomState(seed).shuffle orders rows in the same way.
std::vector<std::int32_t> numpy_permutation(std::uint32_t seed, int n);

ByteRows bytes_of(const DataSet& data);

// In the order of numpy_permutation(seed, rows).
ByteRows shuffled(const ByteRows& images, std::uint32_t seed);

// Takes the last `count` rows away.
ByteRows split_off(ByteRows& images, int count);

}  // namespace saltus
