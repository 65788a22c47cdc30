// Grey pictures as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace saltus::report {

// `pixels`, row after row, 0 is black; width * height of them.
std::vector<std::byte> grey_png(int width, int height, std::span<const std::uint8_t> pixels);

}  // namespace saltus::report
