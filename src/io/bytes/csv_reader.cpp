#include "io/bytes/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {

std::string CsvReader::unexpected(std::size_t field, const std::string& expected) const {
  const std::string what =
      field < names_.size() ? shown_word(names_[field], 30) : fmt::format("entry {}", field);
  return fmt::format("{} is '{}' where {} is expected", what, shown_word(fields_[field], 30),
                     expected);
}

// Where the quote at `open` closes; two quotes in a row stand for one that does not.
std::size_t CsvReader::closing_quote(std::string_view line, std::size_t open) const {
  for (std::size_t at = open + 1; at < line.size(); ++at) {
    if (line[at] != '"') continue;
    if (at + 1 == line.size() || line[at + 1] != '"') return at;
    ++at;
  }
  refuse("a double quote is not closed");
}

void CsvReader::split(std::string_view line) {
  fields_.clear();
  while (true) {
    std::size_t end;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos && line[first] == '"') {
      const std::size_t close = closing_quote(line, first);
      end = std::min(line.find(',', close), line.size());
      fields_.push_back(line.substr(first + 1, close - first - 1));
      if (!trimmed(line.substr(close + 1, end - close - 1)).empty()) {
        refuse(fmt::format("text follows the quoted entry {}", fields_.size() - 1));
      }
    } else {
      end = std::min(line.find(','), line.size());
      fields_.push_back(trimmed(line.substr(0, end)));
    }
    if (end == line.size()) return;
    line.remove_prefix(end + 1);
  }
}

bool CsvReader::next(std::size_t columns) {
  std::string_view line;
  do {
    if (!next_line(line)) return false;
  } while (line.empty());
  split(line);
  if (columns != 0 && fields_.size() != columns) {
    refuse(fmt::format("it has {} entries where {} are expected", fields_.size(), columns));
  }
  return true;
}

void CsvReader::read_names() {
  if (!next(0)) refuse("the names of the columns are expected, and the file is empty");
  names_.assign(fields_.begin(), fields_.end());
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) refuse(fmt::format("there is no column '{}'", name));
  return static_cast<std::size_t>(found - names_.begin());
}

double CsvReader::number(std::size_t field) const {
  const std::optional<double> number = number_in<double>(fields_[field]);
  if (!number || !std::isfinite(*number)) refuse(unexpected(field, "a number"));
  return *number;
}

}  // namespace saltus
