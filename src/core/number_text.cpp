#include "core/number_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace saltus {

std::string with_commas(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string short_number(double v) {
  return std::isnan(v) ? "-" : fmt::format("{:.4g}", v);
}

std::string rounded(double v) {
  if (!std::isfinite(v)) return std::isnan(v) ? "-" : "inf";
  return (v < 0 ? "-" : "") + with_commas(static_cast<std::uint64_t>(std::llround(std::abs(v))));
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<std::uint64_t>(std::llround(seconds));
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace saltus
