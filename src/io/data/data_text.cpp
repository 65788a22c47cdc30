// Rows of 0 and 1 as text, a line each.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string>
#include <string_view>

#include "io/bytes/words.hpp"
#include "io/data/data_formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// A plus sign is allowed as well.
std::optional<double> signed_number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  return number_in<double>(word);
}

class TextRows : TextLines {
 public:
  TextRows(const FileRange& file, Separator separator)
      : TextLines(file, file.file->name()), separator_(separator) {}

  DataSet read() {
    // An entry takes two bytes with what ends it.
    entries_.reserve(text_.size() / 2 + 1);
    for (std::string_view line; next_line(line);) {
      if (!line.empty()) read_line(line);
    }
    if (rows_ == 0) throw DataError(fmt::format("'{}' cannot be used: it has no rows.", name_));
    return data_set();
  }

 private:
  void read_line(std::string_view line) {
    row_start_ = entries_.size();
    if (line_number_ == 1 && separator_ == Separator::comma && holds_names(line)) {
      columns_ = 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
      return;
    }
    for_each_word(line, [&](std::string_view word) { add(word); });
    const std::size_t found = entries_.size() - row_start_;
    if (columns_ == 0) columns_ = found;
    if (found != columns_) {
      refuse(fmt::format("it has {} entries where {}, as in the lines before, are expected", found,
                         columns_));
    }
    ++rows_;
  }

  // No entry is a number: one that is not, among others that are, is an error.
  bool holds_names(std::string_view line) const {
    bool names = true;
    for_each_word(line, [&](std::string_view word) { names = names && !signed_number_in(word); });
    return names;
  }

  template <class F>
  void for_each_word(std::string_view line, const F& f) const {
    const char* const separators = separator_ == Separator::comma ? "," : " \t\r";
    while (true) {
      const std::size_t end = std::min(line.find_first_of(separators), line.size());
      f(trimmed(line.substr(0, end)));
      if (end == line.size()) return;
      line.remove_prefix(end + 1);
      if (separator_ == Separator::blanks) line = trimmed(line);
    }
  }

  void add(std::string_view word) {
    const bool digit = word.size() == 1 && (word[0] == '0' || word[0] == '1');
    // Written by programs that know only one kind of number: 1.0, 0.000e+00.
    const std::optional<double> number = digit ? word[0] - '0' : signed_number_in(word);
    const std::optional<Symbol> level = number ? values_.level(*number) : std::nullopt;
    if (!level) {
      refuse(fmt::format("entry {} is '{}' where {} is expected", entries_.size() - row_start_,
                         shown_word(word, 20), values_.expected()));
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

  Separator separator_;
  std::vector<std::uint8_t> entries_;
  TwoValues values_;
  std::size_t columns_ = 0, rows_ = 0, row_start_ = 0;
};

}  // namespace

DataSet parse_text_data(const FileRange& file, Separator separator) {
  return TextRows(file, separator).read();
}

}  // namespace saltus
