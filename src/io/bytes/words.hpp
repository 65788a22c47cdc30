// Words of text files: blanks around them, numbers in them, how messages show them.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes/byte_file.hpp"

namespace saltus {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The number that the whole word is; nothing where it is none that a T holds.
template <class T>
std::optional<T> number_in(std::string_view word) {
  T number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Names of files and their extensions, in small letters of ASCII.
inline std::string lower_cased(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A word from a file in a message: short, and without bytes that a terminal would obey.
std::string shown_word(std::string_view word, std::size_t most);

// The lines of a text without the blanks around them; the text is held whole.
class TextLines {
 public:
  // Reads all of it; messages call it `name`.
  TextLines(const FileRange& file, std::string name);
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  bool next_line(std::string_view& line);  // false at the end
  // Throws DataError with the name, the number of the line and `why`, part of a sentence.
  [[noreturn]] void refuse(const std::string& why) const;

 protected:
  std::string name_, text_;
  std::string_view rest_;
  std::size_t line_number_ = 0;
};

}  // namespace saltus
