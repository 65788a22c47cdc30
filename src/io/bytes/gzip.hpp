// Files that may be packed by gzip, whatever they hold.
#pragma once

#include <filesystem>

#include "io/bytes/byte_file.hpp"

namespace saltus {

// The content of a file. When it begins as gzip files do, it is unpacked to a file without a name,
// which messages call "PATH, unpacked". Throws FileError and DataError.
FileRange open_maybe_packed(const std::filesystem::path& path);

}  // namespace saltus
