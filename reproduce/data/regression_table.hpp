// Tables on their way to a RegressionSet: which rows and columns of the published files are used,
// and which rows are to learn from. All throw DataError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes/csv_reader.hpp"
#include "reproduce/data/regression_sets.hpp"

namespace saltus {

// Numbers as they are in the files, the columns in their final order: rows to learn from first.
struct RegressionTable {
  std::vector<std::string> columns;
  std::vector<double> x;  // rows of columns.size() entries
  std::vector<double> y;
  std::size_t train = 0;  // how many of the rows are to learn from
};

// Of the published shuffles, which are NumPy's.
constexpr std::uint32_t kShuffleSeed = 78712;

// Scales, keeps and standardises as regression_sets.hpp says. Throws DataError when fewer than two
// rows would be kept.
RegressionSet prepare(const std::string& name, RegressionTable table);

// A column of a file: numbers, or words from a list.
struct ColumnSource {
  std::string name;
  std::vector<std::string> words;
};

// The field's number, or the index of its word in the list. Throws DataError when it is neither.
double coded(const CsvReader& in, std::size_t field, const ColumnSource& source);

// Rows of one code per source, words spread into columns of 0 and 1: as many as the largest index
// that occurs, plus one.
void spread_words(const std::vector<ColumnSource>& sources, const std::vector<double>& codes,
                  RegressionTable& table);

// `rows` whose row k is the row order[k] of `from`.
std::vector<double> reordered(const std::vector<double>& from, std::size_t columns,
                              const std::vector<std::int32_t>& order);

// How many rows a file has, whether or not they are used.
struct RowsRead {
  std::size_t train = 0, test = 0;
};

RegressionTable compas_table(CsvReader& in, RowsRead& read);
RegressionTable adult_table(CsvReader& train, CsvReader& test, RowsRead& read);
// With or without the columns url and timedelta.
RegressionTable news_table(CsvReader& in, RowsRead& read);

// The blog's files are added one after the other; then the table can be made once.
class BlogTable {
 public:
  void add_train(CsvReader& in);
  void add_test(CsvReader& in);
  RowsRead read() const { return {train_, y_.size() - train_}; }
  RegressionTable finish();

 private:
  void add(CsvReader& in);
  std::vector<std::size_t> used_columns(const std::vector<std::size_t>& rows) const;

  std::vector<double> x_, y_;
  std::size_t train_ = 0;
};

}  // namespace saltus
