// Words of text files: blanks around them, how messages show them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/number_text.hpp"
#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Names of files and their extensions, in small letters of ASCII.
inline std::string lower_cased(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// A word from a file in a message: short, and without bytes that a terminal would obey.
inline std::string shown_word(std::string_view word, std::size_t most) {
  std::string text;
  for (const char c : word.substr(0, most)) text += c >= ' ' && c <= '~' ? c : '?';
  return word.size() > most ? text + "..." : text;
}

// Lines without their ends, "\n" or "\r\n"; the last one may have none.
inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The lines of a text without the blanks around them; the text is held whole.
class TextLines {
 public:
  // Reads all of it; messages call it `name`.
  TextLines(const FileRange& file, std::string name)
      : TextLines(content_of(file), std::move(name)) {}
  TextLines(std::string text, std::string name)
      : name_(std::move(name)), text_(std::move(text)), rest_(text_) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some editors put it first
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  // False at the end.
  bool next_line(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_number_;
    return true;
  }
  // Throws DataError with the name, the number of the line and `why`, part of a sentence.
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(fmt::format("'{}' cannot be used: line {}: {}.", name_,
                                std::max<std::size_t>(1, line_number_), why));
  }

 private:
  static std::string content_of(const FileRange& file) {
    std::string text(file.size, '\0');
    file.read(0, text.data(), text.size());
    return text;
  }

 protected:
  std::string name_, text_;
  std::string_view rest_;
  std::size_t line_number_ = 0;
};

}  // namespace saltus
