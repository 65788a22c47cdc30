// The tables behind regression_sets.hpp: which rows and columns of the published files are used,
// and which rows are to learn from. All throw DataError.
#pragma once

#include <vector>

#include "io/bytes/csv_reader.hpp"
#include "reproduce/data/regression_table.hpp"

namespace saltus {

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
  RegressionTable finish(bool wrapped_target);

 private:
  void add(CsvReader& in);
  void drop_rows_above(double limit);

  std::vector<double> x_, y_;
  std::size_t train_ = 0;
};

}  // namespace saltus
