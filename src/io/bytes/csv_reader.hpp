// Tables as text: one row per line, fields separated by commas. Blanks around a field do not count;
// a field in double quotes may hold commas (its quotes are taken off, doubled ones in it stay).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/words.hpp"

namespace saltus {

class CsvReader : public TextLines {
 public:
  using TextLines::TextLines;

  // The next line that is not empty; false at the end. Throws DataError unless it has `columns`
  // fields (0: any number of them).
  bool next(std::size_t columns);
  // Whatever it holds.
  void skip_line() {
    std::string_view line;
    next_line(line);
  }

  // Takes the next line as the names of the columns.
  void read_names();
  const std::vector<std::string>& names() const { return names_; }
  // The first column of that name. Throws DataError when there is none.
  std::size_t column(std::string_view name) const;

  const std::vector<std::string_view>& fields() const { return fields_; }
  // A field as a finite number. Throws DataError when it is none.
  double number(std::size_t field) const;

  // For refuse: "FIELD is 'WORD' where EXPECTED is expected".
  std::string unexpected(std::size_t field, const std::string& expected) const;

 private:
  void split(std::string_view line);
  std::size_t closing_quote(std::string_view line, std::size_t open) const;

  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

}  // namespace saltus
