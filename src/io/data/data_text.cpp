// Rows of 0 and 1 as text, a line each.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes/blanks.hpp"
#include "io/data/data_formats.hpp"
#include "io/data/two_values.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// A word from a file in a message: short, and without bytes that a terminal would obey.
std::string shown(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 20)) text += c >= ' ' && c <= '~' ? c : '?';
  return word.size() > 20 ? text + "..." : text;
}

class TextRows {
 public:
  TextRows(const FileRange& file, Separator separator)
      : name_(file.file->name()), separator_(separator), text_(file.size, '\0') {
    file.read(0, text_.data(), text_.size());
  }

  DataSet read() {
    // An entry takes two bytes with what ends it.
    entries_.reserve(text_.size() / 2 + 1);
    std::string_view rest = text_;
    if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      ++line_number_;
      read_line(trimmed(rest.substr(0, end)));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (rows_ == 0) throw DataError(fmt::format("'{}' cannot be used: it has no rows.", name_));
    return data_set();
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty()) return;
    if (line_number_ == 1 && separator_ == Separator::comma && holds_names(line)) {
      columns_ = 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
      return;
    }
    row_start_ = entries_.size();
    separator_ == Separator::comma ? read_comma_line(line) : read_blank_line(line);
    const std::size_t found = entries_.size() - row_start_;
    if (columns_ == 0) columns_ = found;
    if (found != columns_) {
      refuse(fmt::format("it has {} entries where {}, as in the lines before, are expected", found,
                         columns_));
    }
    ++rows_;
  }

  // No entry is a number: one that is not, among others that are, is an error.
  static bool holds_names(std::string_view line) {
    while (true) {
      const std::size_t end = std::min(line.find(','), line.size());
      if (number_in(trimmed(line.substr(0, end)))) return false;
      if (end == line.size()) return true;
      line.remove_prefix(end + 1);
    }
  }

  void read_comma_line(std::string_view line) {
    std::size_t at = 0;
    while (true) {
      const std::size_t end = std::min(line.find(',', at), line.size());
      add(trimmed(line.substr(at, end - at)));
      if (end == line.size()) return;
      at = end + 1;
    }
  }

  void read_blank_line(std::string_view line) {
    std::size_t at = 0;
    while (at < line.size()) {
      std::size_t end = at;
      while (end < line.size() && !is_blank(line[end])) ++end;
      add(line.substr(at, end - at));
      at = end;
      while (at < line.size() && is_blank(line[at])) ++at;
    }
  }

  void add(std::string_view word) {
    const bool digit = word.size() == 1 && (word[0] == '0' || word[0] == '1');
    // Written by programs that know only one kind of number: 1.0, 0.000e+00.
    const std::optional<double> number = digit ? word[0] - '0' : number_in(word);
    const std::optional<Symbol> level = number ? values_.level(*number) : std::nullopt;
    if (!level) {
      refuse(fmt::format("entry {} is '{}' where {} is expected", entries_.size() - row_start_,
                         shown(word), values_.expected()));
    }
    entries_.push_back(*level == 1);
  }

  DataSet data_set() const {
    if (rows_ > INT_MAX || columns_ > INT_MAX / 2) {
      throw DataError(fmt::format("'{}' cannot be used: it has {} rows of {} entries.", name_,
                                  rows_, columns_));
    }
    DataSet data{RowBuffer<Symbol>(static_cast<int>(rows_), static_cast<int>(columns_)),
                 {static_cast<int>(columns_)}};
    const std::uint8_t* entry = entries_.data();
    for (int r = 0; r < data.rows.view().rows; ++r) {
      std::copy_n(entry, columns_, data.rows.view()[r]);
      entry += columns_;
    }
    return data;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(fmt::format("'{}' cannot be used: line {}: {}.", name_, line_number_, why));
  }

  std::string name_;
  Separator separator_;
  std::string text_;
  std::vector<std::uint8_t> entries_;
  TwoValues values_;
  std::size_t columns_ = 0, rows_ = 0, row_start_ = 0, line_number_ = 0;
};

}  // namespace

DataSet parse_text_data(const FileRange& file, Separator separator) {
  return TextRows(file, separator).read();
}

}  // namespace saltus
