// Members of a ZIP archive, unpacked and checked by zlib.
#pragma once

#include <cstdint>
#include <string>

#include "io/bytes/byte_file.hpp"

namespace saltus {

// Throws DataError when the bytes do not have the sum `crc`; `name` is the member's.
void check_sum(const FileRange& bytes, std::uint32_t crc, const std::string& name);

// Inflates to a file without a name. Throws DataError when the result does not have the size and
// the sum given.
FileRange inflate_to_file(const FileRange& packed, std::uint64_t size, std::uint32_t crc,
                          const std::string& name);

// Refuses, with a DataError, `unpacked` bytes out of `packed` ones in the file `name` that could
// only be meant to fill a disk: more than a gibibyte, and more than a hundred times the packed
// size.
void check_unpacked(const std::string& name, std::uint64_t packed, std::uint64_t unpacked);

}  // namespace saltus
