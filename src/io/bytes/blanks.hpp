// Blanks around the words of a text file.
#pragma once

#include <string_view>

namespace saltus {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors put it first

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace saltus
