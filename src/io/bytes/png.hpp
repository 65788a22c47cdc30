// PNG files, by libpng where saltus was built with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

// 8-bit greyscale; `pixels` holds height rows of width bytes, 0 is black. Throws UsageError when
// there is no libpng in this build.
std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, int width, int height);

}  // namespace saltus
