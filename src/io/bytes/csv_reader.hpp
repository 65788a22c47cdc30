// Tables as text: one row per line, fields separated by commas. Blanks around a field do not count;
// a field in double quotes may hold commas (its quotes are taken off, doubled ones in it stay).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_file.hpp"

namespace saltus {

class CsvReader {
 public:
  // Reads all of it; messages call it `name`.
  CsvReader(const FileRange& file, std::string name);
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;

  // The next line that is not empty; false at the end. Throws DataError unless it has `columns`
  // fields (0: any number of them).
  bool next(std::size_t columns);
  void skip_line();  // whatever it holds

  // Takes the next line as the names of the columns.
  void read_names();
  const std::vector<std::string>& names() const { return names_; }
  // The first column of that name. Throws DataError when there is none.
  std::size_t column(std::string_view name) const;

  const std::vector<std::string_view>& fields() const { return fields_; }
  // A field as a finite number. Throws DataError when it is none.
  double number(std::size_t field) const;

  // Throws DataError with the name, the number of the line and `why`, part of a sentence.
  [[noreturn]] void refuse(const std::string& why) const;
  // Such a part: field `field` is ... where `expected` is expected.
  std::string unexpected(std::size_t field, const std::string& expected) const;

 private:
  bool next_line(std::string_view& line);
  void split(std::string_view line);
  std::size_t closing_quote(std::string_view line, std::size_t open) const;

  std::string name_, text_;
  std::string_view rest_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
  std::size_t line_number_ = 0;
};

}  // namespace saltus
