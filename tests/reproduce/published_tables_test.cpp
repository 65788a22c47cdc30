// Which rows and columns of the published tables are used, on small files of their layout.
#include "reproduce/data/regression_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "io/test_files.hpp"

namespace saltus {
namespace {

using Numbers = std::vector<double>;

Numbers row(const RegressionTable& table, std::size_t r) {
  const std::size_t n = table.columns.size();
  const auto at = table.x.begin() + static_cast<std::ptrdiff_t>(r * n);
  return {at, at + static_cast<std::ptrdiff_t>(n)};
}

constexpr const char* kCompasNames =
    "name,sex,age,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,"
    "days_b_screening_arrest,c_charge_degree,is_recid,score_text,priors_count,two_year_recid\n";

// Ten rows that are used, of ages 20 to 29, and others between them.
std::string compas_text() {
  static constexpr const char* kRaces[] = {"African-American", "Hispanic",        "Asian",
                                           "Caucasian",        "Native American", "Other"};
  std::string text = kCompasNames;
  for (int i = 0; i < 10; ++i) {
    const char* race = kRaces[i % 6];
    text += fmt::format("\"a, b\",{},{},{},1,2,3,{},{},{},0,Low,99,{}\n", i % 2 ? "Female" : "Male",
                        20 + i, race, i, i % 2 ? -30 : 30, i % 2 ? "M" : "O", i % 3 == 0 ? 1 : 0);
    const auto unused = [&](const char* days, const char* degree, int known, const char* score) {
      text +=
          fmt::format("c,Male,70,Martian,1,2,3,4,{},{},{},{},99,1\n", days, degree, known, score);
    };
    unused("31", "M", 0, "Low");
    unused("-31", "M", 0, "Low");
    unused("", "M", 0, "Low");
    unused("0", "T", 0, "Low");
    unused("0", "M", -1, "Low");
    unused("0", "M", 0, "N/A");
  }
  return text;
}

TEST(PublishedTables, Compas) {
  CsvReader in(file_of(compas_text()), "compas.csv");
  RowsRead read;
  const RegressionTable table = compas_table(in, read);
  EXPECT_EQ(read.train, 70u);
  ASSERT_EQ(table.y.size(), 10u);
  EXPECT_EQ(table.train, 8u);
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{
                "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count", "age",
                "race=African-American", "race=Hispanic", "race=Asian", "race=Caucasian",
                "race=Native American", "race=Other", "sex=Male", "sex=Female"}));
  // NumPy's order of ten with the seed 78712: 6, 4, 8, 2, 5, 7, 1, 9, 0, 3.
  EXPECT_EQ(row(table, 0), (Numbers{6, 1, 2, 3, 26, 1, 0, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(row(table, 1), (Numbers{4, 1, 2, 3, 24, 0, 0, 0, 0, 1, 0, 1, 0}));
  EXPECT_EQ(row(table, 9), (Numbers{3, 1, 2, 3, 23, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(table.y, (Numbers{1, 0, 0, 0, 0, 0, 0, 1, 1, 1}));
}

std::string compas_refusal(const std::string& text) {
  return data_error([&] {
    CsvReader in(file_of(text), "compas.csv");
    RowsRead read;
    compas_table(in, read);
  });
}

TEST(PublishedTables, CompasRefusals) {
  const std::string names = kCompasNames;
  EXPECT_TRUE(contains(compas_refusal("a,b\n1,2\n"), "no column 'days_b_screening_arrest'"));
  EXPECT_TRUE(contains(compas_refusal(names + "a,Male\n"), "line 2: it has 2 entries where 14"));
  EXPECT_TRUE(contains(compas_refusal(names + "a,Male,20,Martian,0,0,0,0,1,F,0,Low,0,1\n"),
                       "'compas.csv' cannot be used: line 2: race is 'Martian' where one of Afr"));
  EXPECT_TRUE(contains(compas_refusal(names + "a,Male,20,Other,0,0,0,0,1,F,0,Low,0,2\n"),
                       "two_year_recid is '2' where one of 0, 1 is expected"));
  EXPECT_TRUE(contains(compas_refusal(names + "a,Male,old,Other,0,0,0,0,1,F,0,Low,0,1\n"),
                       "age is 'old' where a number"));
}

std::string adult_line(int age, const std::string& workclass, const std::string& income) {
  return fmt::format(
      "{}, {}, 77516, Bachelors, 13, Divorced, Sales, Wife, Other, Male, 2174, 5, 40, Cambodia, "
      "{}\n",
      age, workclass, income);
}

TEST(PublishedTables, Adult) {
  std::string train_text, test_text = "|1x3 Cross validator\n";
  for (int i = 0; i < 10; ++i) {
    train_text += adult_line(30 + i, "Self-emp-inc", i < 5 ? ">50K" : "<=50K");
    train_text += adult_line(90, "?", "<=50K");
  }
  test_text += adult_line(50, "Private", ">50K.") + adult_line(51, "Local-gov", "<=50K.") + "\n";
  CsvReader train(file_of(train_text), "adult.data"), test(file_of(test_text), "adult.test");
  RowsRead read;
  const RegressionTable table = adult_table(train, test, read);
  EXPECT_EQ(read.train, 20u);
  EXPECT_EQ(read.test, 2u);
  EXPECT_EQ(table.train, 10u);
  ASSERT_EQ(table.y.size(), 12u);
  // As many columns as the largest index that occurs in either file needs: 5 of workclass.
  ASSERT_EQ(table.columns.size(), 6u + 5 + 2 + 4 + 1 + 4 + 2 + 2);
  EXPECT_EQ(table.columns[6], "workclass=Private");
  EXPECT_EQ(table.columns[10], "workclass=Local-gov");
  EXPECT_EQ(table.columns[11], "marital-status=Married-civ-spouse");
  const Numbers words = {0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 1};
  Numbers first = {13, 2174, 40, 36, 77516, 5, 0, 0, 1, 0, 0}, last = first;
  last[3] = 51;
  last[8] = 0;
  last[10] = 1;
  first.insert(first.end(), words.begin(), words.end());
  last.insert(last.end(), words.begin(), words.end());
  EXPECT_EQ(row(table, 0), first);  // NumPy's order begins with 6
  EXPECT_EQ(row(table, 11), last);  // the test rows stay in their order
  EXPECT_EQ(table.y, (Numbers{0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0}));
}

TEST(PublishedTables, AdultRefusals) {
  const auto refusal = [](const std::string& train_text, const std::string& test_text) {
    return data_error([&] {
      CsvReader train(file_of(train_text), "adult.data"), test(file_of(test_text), "adult.test");
      RowsRead read;
      adult_table(train, test, read);
    });
  };
  const std::string good = adult_line(30, "Private", ">50K");
  EXPECT_TRUE(contains(refusal(good + adult_line(30, "Privat", ">50K"), ""),
                       "'adult.data' cannot be used: line 2: entry 1 is 'Privat'"));
  EXPECT_TRUE(contains(refusal(adult_line(30, "Private", ">50K."), ""), "<=50K, >50K"));
  EXPECT_TRUE(contains(refusal(good, "|\n" + good), "'adult.test' cannot be used: line 2"));
  EXPECT_TRUE(contains(refusal("1, 2\n", ""), "line 1: it has 2 entries where 15"));
}

// Entry i of row r is 100 r + i, and the shares are e^r.
std::string news_text(bool whole, int rows, int features = 58) {
  std::string text = whole ? "url, timedelta" : "";
  for (int i = 0; i < features; ++i) text += fmt::format("{} f{}", text.empty() ? "" : ",", i);
  text += ", shares\n";
  for (int r = 0; r < rows; ++r) {
    if (whole) text += "http://x/y, 731.0, ";
    for (int i = 0; i < features; ++i) text += fmt::format("{}, ", 100 * r + i);
    text += fmt::format("{}\n", std::exp(r));
  }
  return text;
}

TEST(PublishedTables, NewsOfBothLayouts) {
  for (const bool whole : {false, true}) {
    CsvReader in(file_of(news_text(whole, 10)), "news.csv");
    RowsRead read;
    const RegressionTable table = news_table(in, read);
    EXPECT_EQ(read.train, 10u);
    EXPECT_EQ(table.train, 8u);
    ASSERT_EQ(table.columns.size(), 58u);
    EXPECT_EQ(table.columns[57], "f57");
    // NumPy's order of ten with the seed 42: 8, 1, 5, 0, 7, 2, 9, 4, 3, 6; 8 and 1 are the test.
    const Numbers order = {5, 0, 7, 2, 9, 4, 3, 6, 8, 1};
    for (std::size_t r = 0; r < 10; ++r) {
      EXPECT_EQ(row(table, r)[57], 100 * order[r] + 57);
      EXPECT_NEAR(table.y[r], order[r], 1e-12);
    }
  }
}

TEST(PublishedTables, NewsRefusals) {
  const auto refusal = [](std::string text, const std::string& old, const std::string& now) {
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, old.size(), now);
    return data_error([&] {
      CsvReader in(file_of(text), "news.csv");
      RowsRead read;
      news_table(in, read);
    });
  };
  EXPECT_TRUE(contains(refusal(news_text(true, 2), " shares", " likes"), "is 'likes' where 'sh"));
  EXPECT_TRUE(contains(refusal(news_text(true, 2, 57), "f1,", "f1,"), "names 57 columns where 58"));
  EXPECT_TRUE(contains(refusal(news_text(true, 2), ", 157", ", x"), "line 3: f57 is 'x'"));
  EXPECT_TRUE(contains(refusal(news_text(false, 1), ", 1\n", ", 0\n"),
                       "line 2: shares is '0' where a number above 0 is expected"));
}

// Entry i of a row is 1000 id + i, except that columns 3 and 51 are constant.
std::string blog_line(int id, double comments) {
  std::string text;
  for (int i = 0; i < 280; ++i) {
    text += fmt::format("{}.0,", i == 3 || i == 51 ? 7 : 1000 * id + i);
  }
  return text + fmt::format("{:.1f}\n", comments);
}

BlogTable blog_rows() {
  std::string train_text, test_text;
  for (int i = 0; i < 9; ++i) train_text += blog_line(i, i == 4 ? 258 : i);
  CsvReader train(file_of(train_text), "train.csv");
  CsvReader first(file_of(blog_line(9, 20)), "a.csv"), second(file_of(blog_line(10, 3)), "b.csv");
  BlogTable rows;
  rows.add_train(train);
  rows.add_test(first);
  rows.add_test(second);
  return rows;
}

TEST(PublishedTables, Blog) {
  BlogTable rows = blog_rows();
  EXPECT_EQ(rows.read().train, 9u);
  EXPECT_EQ(rows.read().test, 2u);
  // Of 11 targets, the 90th percentile is the second largest, 20: only 258 goes.
  const RegressionTable table = rows.finish();
  EXPECT_EQ(table.train, 8u);
  EXPECT_EQ(table.y, (Numbers{0, 1, 2, 3, 5, 6, 7, 8, 20, 3}));
  // Column 3 is constant and goes; 51 is one of those that come first and stays.
  ASSERT_EQ(table.columns.size(), 279u);
  EXPECT_EQ(table.columns[0], "column 50");
  EXPECT_EQ(table.columns[4], "column 55");
  EXPECT_EQ(table.columns[8], "column 0");
  EXPECT_EQ(table.columns[11], "column 4");
  const Numbers fifth = row(table, 4), last = row(table, 9);  // 5 stands where 4 was
  EXPECT_EQ(Numbers(fifth.begin(), fifth.begin() + 3), (Numbers{5050, 7, 5052}));
  EXPECT_EQ(fifth[278], 5279);
  EXPECT_EQ(last[8], 10000);
  EXPECT_EQ(last[278], 10279);
}

TEST(PublishedTables, BlogRefusals) {
  const auto refusal = [](const std::string& text) {
    return data_error([&] {
      CsvReader in(file_of(text), "train.csv");
      BlogTable().add_train(in);
    });
  };
  EXPECT_TRUE(contains(refusal(blog_line(0, 1) + "1,2\n"), "line 2: it has 2 entries where 281"));
  EXPECT_TRUE(contains(refusal(blog_line(0, 0.5)), "entry 280 is '0.5' where a number of comm"));
  EXPECT_TRUE(contains(refusal(blog_line(0, -1)), "'-1.0'"));
  EXPECT_TRUE(contains(refusal(blog_line(0, 1e12)), "entry 280"));
  EXPECT_TRUE(contains(data_error([] { BlogTable().finish(); }), "no rows"));
}

}  // namespace
}  // namespace saltus
