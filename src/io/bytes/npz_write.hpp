// Arrays as members of a .npz file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"

namespace saltus {

// Begins NAME.npy; the numbers are to be appended, then the member ended.
void begin_npy(ZipWriter& zip, const std::string& name, NpyType type,
               std::span<const std::uint64_t> shape);

// The whole of it.
void add_npy(ZipWriter& zip, const std::string& name, NpyType type,
             const std::vector<std::uint64_t>& shape, std::span<const std::byte> numbers);

}  // namespace saltus
