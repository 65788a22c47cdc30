// Numbers, durations and lists as people read and write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

std::string with_commas(std::uint64_t n);  // 1,000,000
std::string short_number(double v);        // 4 significant digits; "-" for NaN
std::string rounded(double v);             // a whole number with commas; "-" for NaN
std::string duration(double seconds);      // "0.8 s", "2 min 5 s"

// The number that the whole word is; nothing where it is none that a T holds.
template <class T>
std::optional<T> number_in(std::string_view word) {
  T number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// The parts of "a,b,c", one at least.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

}  // namespace saltus
