#include "reproduce/data/regression_table.hpp"

#include <gtest/gtest.h>

#include "io/test_files.hpp"

namespace saltus {
namespace {

using Numbers = std::vector<double>;

// Rows of a, b, c; of four to learn from three are kept.
RegressionTable small_table() {
  RegressionTable table;
  table.columns = {"a", "b", "c"};
  table.x = {0,  1,  7,  //
             2,  1,  7,  //
             4,  1,  7,  //
             10, 0,  7,  //
             20, 10, 7};
  table.y = {2, 6, 4, 1, 3};
  table.train = 4;
  return table;
}

TEST(RegressionTable, ScalesKeepsAndStandardises) {
  const RegressionSet set = prepare("small", small_table());
  EXPECT_EQ(set.name, "small");
  EXPECT_EQ(set.columns, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(set.train.rows(), 3);
  ASSERT_EQ(set.test.rows(), 1);
  EXPECT_EQ(set.train.features, 3);
  EXPECT_EQ(set.test.features, 3);
  // a: 0, .1, .2 have the mean .1 and the deviation .1; the test row has 1.
  EXPECT_FLOAT_EQ(set.train.x[0], -1);
  EXPECT_NEAR(set.train.x[3], 0, 1e-12);
  EXPECT_FLOAT_EQ(set.train.x[6], 1);
  EXPECT_FLOAT_EQ(set.test.x[0], 9);
  // b: constant on the kept rows, .1, whose mean in floating point is not .1.
  for (const std::size_t i : {1u, 4u, 7u}) EXPECT_EQ(set.train.x[i], 0);
  EXPECT_FLOAT_EQ(set.test.x[1], 0.9f);
  // c: constant everywhere.
  EXPECT_EQ(set.train.x[2], 0);
  EXPECT_EQ(set.test.x[2], 0);
  // y: of all rows, without the mean taken off.
  EXPECT_FLOAT_EQ(set.train.y[0], 0.2f);
  EXPECT_FLOAT_EQ(set.train.y[1], 1);
  EXPECT_FLOAT_EQ(set.test.y[0], 0.4f);
}

TEST(RegressionTable, NeedsRowsOfBothKinds) {
  RegressionTable all_train = small_table(), two = small_table();
  all_train.train = 5;
  two.train = 2;  // of which one is kept
  EXPECT_TRUE(contains(data_error([&] { prepare("small", all_train); }), "small has 5 rows"));
  EXPECT_TRUE(contains(data_error([&] { prepare("small", two); }), "too few"));
}

TEST(RegressionTable, WordsBecomeColumns) {
  const std::vector<ColumnSource> sources = {
      {"n", {}}, {"w", {"x", "y", "z", "never"}}, {"v", {"p", "q"}}};
  RegressionTable table;
  spread_words(sources, {5, 2, 0, 6, 0, 1}, table);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"n", "w=x", "w=y", "w=z", "v=p", "v=q"}));
  EXPECT_EQ(table.x, (Numbers{5, 0, 0, 1, 1, 0, 6, 1, 0, 0, 0, 1}));
}

TEST(RegressionTable, Codes) {
  CsvReader in(file_of("2.5,Male,Mole\n"), "f.csv");
  ASSERT_TRUE(in.next(3));
  const ColumnSource sex = {"sex", {"Female", "Male"}};
  EXPECT_EQ(coded(in, 0, {"n", {}}), 2.5);
  EXPECT_EQ(coded(in, 1, sex), 1);
  EXPECT_TRUE(contains(data_error([&] { coded(in, 2, sex); }),
                       "line 1: entry 2 is 'Mole' where one of Female, Male is expected"));
}

TEST(RegressionTable, Reorders) {
  EXPECT_EQ(reordered({1, 2, 3, 4, 5, 6}, 2, {2, 0}), (Numbers{5, 6, 1, 2}));
}

}  // namespace
}  // namespace saltus
