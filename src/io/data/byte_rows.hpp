// Rows of bytes on their way to an ImageSet.
#pragma once

#include "saltus/io/data_file.hpp"
#include "saltus/io/image_set.hpp"

namespace saltus {

ByteRows bytes_of(const DataSet& data);

// In the order of numpy_permutation(seed, rows).
ByteRows shuffled(const ByteRows& images, std::uint32_t seed);

// Takes the last `count` rows away.
ByteRows split_off(ByteRows& images, int count);

}  // namespace saltus
