// Numbers and durations as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace saltus {

std::string with_commas(std::uint64_t n);  // 1,000,000
std::string short_number(double v);        // 4 significant digits; "-" for NaN
std::string rounded(double v);             // a whole number with commas; "-" for NaN
std::string duration(double seconds);      // "0.8 s", "2 min 5 s"

}  // namespace saltus
