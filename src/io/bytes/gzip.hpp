// Bytes packed by zlib: files that may be packed by gzip, members of ZIP archives, arrays of
// MATLAB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/bytes/byte_file.hpp"

namespace saltus {

// The content of a file. When it begins as gzip files do, it is unpacked to a file without a name,
// which messages call "PATH, unpacked". Throws FileError and DataError.
FileRange open_maybe_packed(const std::filesystem::path& path);
// All of it. Throws DataError also when it is longer than `longest`.
std::string read_text(const std::filesystem::path& path,
                      std::uint64_t longest = std::uint64_t{1} << 30);

// Throws DataError when the bytes of a ZIP member do not have the sum `crc`; `name` is the
// member's.
void check_sum(const FileRange& bytes, std::uint32_t crc, const std::string& name);

// Inflates a ZIP member to a file without a name. Throws DataError when the result does not have
// the size and the sum given.
FileRange inflate_to_file(const FileRange& packed, std::uint64_t size, std::uint32_t crc,
                          const std::string& name);

// Inflates bytes with the header and the sum of zlib to a file without a name. Throws DataError.
FileRange inflate_zlib(const FileRange& packed);

}  // namespace saltus
