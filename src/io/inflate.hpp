// Members of a ZIP archive, unpacked and checked by zlib.
#pragma once

#include <cstdint>
#include <string>

#include "io/byte_file.hpp"

namespace saltus {

// Throws DataError when the bytes do not have the sum `crc`; `name` is the member's.
void check_sum(const FileRange& bytes, std::uint32_t crc, const std::string& name);

// Inflates to a file without a name. Throws DataError when the result does not have the size and
// the sum given.
FileRange inflate_to_file(const FileRange& packed, std::uint64_t size, std::uint32_t crc,
                          const std::string& name);

}  // namespace saltus
