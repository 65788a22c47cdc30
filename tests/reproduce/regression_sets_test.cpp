#include "reproduce/data/regression_sets.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <fstream>

#include <cmath>

#include "io/bytes/zip.hpp"
#include "io/packed.hpp"
#include "io/test_files.hpp"
#include "real_data.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::string& set, const TestFolder& folder) {
  return data_error([&] { load_regression_set(set, folder / ""); });
}

TEST(RegressionSets, MissingFilesAndNames) {
  const TestFolder folder;
  for (const std::string& name : regression_set_names()) {
    try {
      load_regression_set(name, folder / "");
      ADD_FAILURE() << name;
    } catch (const FileError& error) {
      EXPECT_EQ(error.what(), missing_data_message(name, folder / ""));
    }
  }
  EXPECT_THROW(load_regression_set("boston", folder / ""), UsageError);
}

TEST(RegressionSets, OtherFilesThanThePublishedOnes) {
  const TestFolder folder;
  fill_file(folder / "compas-scores-two-years.csv.gz",
            gzipped("age,race,sex,priors_count,juv_fel_count,juv_misd_count,juv_other_count,"
                    "days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid\n"
                    "20,Other,Male,0,0,0,0,0,F,0,Low,1\n"));
  EXPECT_TRUE(contains(refusal("compas", folder), "it has 1 rows where 7214 are published"));
  fill_file(folder / "adult.data", "");
  fill_file(folder / "adult.test", "");
  EXPECT_TRUE(contains(refusal("adult", folder), "it has 0 rows where 32561 are published"));
}

std::string news_text(int rows) {
  std::string names, line;
  for (int i = 0; i < 58; ++i) names += fmt::format("f{},", i);
  for (int i = 0; i < 57; ++i) line += "5,";
  std::string text = names + "shares\n";
  for (int r = 0; r < rows; ++r) text += fmt::format("{}{},{}\n", line, r, r % 7 + 1);
  return text;
}

TEST(RegressionSets, NewsWholeAndInPart) {
  const TestFolder folder;
  fill_file(folder / "OnlineNewsPopularity_subset.csv", news_text(100));
  const RegressionSet part = load_regression_set("news", folder / "");
  EXPECT_EQ(part.train.rows(), 79);  // of 80
  EXPECT_EQ(part.test.rows(), 20);
  ASSERT_EQ(part.notes.size(), 1u);
  EXPECT_EQ(part.notes[0], "A subset of the data set news: 100 of its 39644 rows.");
  fill_file(folder / "OnlineNewsPopularity.csv", news_text(39644));
  const RegressionSet whole = load_regression_set("news", folder / "");
  EXPECT_EQ(whole.train.rows(), 31397);
  EXPECT_EQ(whole.test.rows(), 7929);
  EXPECT_EQ(whole.train.features, 58);
  EXPECT_TRUE(whole.notes.empty());
  fill_file(folder / "OnlineNewsPopularity.csv", news_text(100));
  EXPECT_TRUE(contains(refusal("news", folder), "it has 100 rows where 39644 are published"));
}

TEST(RegressionSets, BlogInAnArchiveOrUnpacked) {
  const TestFolder folder;
  std::string line;
  for (int i = 0; i < 280; ++i) line += "1.0,";
  line += "2.0\n";
  fs::create_directory(folder / "blog");
  fill_file(folder / "blog/blogData_train.csv", line + line);
  EXPECT_TRUE(contains(refusal("blog", folder), "it has 2 rows where 52397 are published"));
  fill_file(folder / "blog/blogData_test-2012.02.01.00_00.csv", "1.0\n");
  EXPECT_TRUE(contains(refusal("blog", folder), "blogData_test-2012.02.01.00_00.csv' cannot be"));
  std::ofstream{folder / "blog/BlogFeedback.zip"};
  OutputFile out(folder / "blog/BlogFeedback.zip", "BlogFeedback.zip");
  ZipWriter zip(out);
  zip.begin("blogData_train.csv", 3 * line.size());
  for (int i = 0; i < 3; ++i) zip.append(line);
  zip.end();
  zip.begin("blogData_test-a.csv", 2);
  zip.append("x\n");
  zip.end();
  zip.finish();
  out.close();
  EXPECT_TRUE(contains(refusal("blog", folder), "BlogFeedback.zip, blogData_test-a.csv' cannot"));
}

// Means and deviations of what is standardised, and a few entries; reference: NumPy and pandas.
class RealTables : public RealData {
 protected:
  static double mean_square(const RegressionRows& rows) {
    double sum = 0;
    for (const float x : rows.x) sum += static_cast<double>(x) * x;
    return sum / static_cast<double>(rows.x.size());
  }
  static double mean(const std::vector<float>& numbers) {
    double sum = 0;
    for (const float y : numbers) sum += y;
    return sum / static_cast<double>(numbers.size());
  }
  // Every column of the kept rows has the mean 0 and the deviation 1.
  static void expect_standard(const RegressionRows& rows) {
    const auto columns = static_cast<std::size_t>(rows.features);
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0, square = 0;
      for (std::size_t i = j; i < rows.x.size(); i += columns) {
        sum += rows.x[i];
        square += static_cast<double>(rows.x[i]) * rows.x[i];
      }
      EXPECT_NEAR(sum / rows.rows(), 0, 1e-5) << j;
      EXPECT_NEAR(square / (rows.rows() - 1), 1, 1e-5) << j;
    }
  }
  static void expect_row(const float* row, const std::vector<double>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(row[i], expected[i], 1e-6) << i;
  }
};

TEST_F(RealTables, Compas) {
  need("compas");
  if (IsSkipped()) return;
  const RegressionSet set = load_regression_set("compas", folder_);
  EXPECT_EQ(set.train.rows(), 4887);
  EXPECT_EQ(set.test.rows(), 1235);
  EXPECT_EQ(set.train.features, 13);
  expect_standard(set.train);
  expect_row(set.train.x.data(),
             {2.23900477, -0.14058684, -0.18188639, -0.23408176, 0.12738887, 0.97026});
  expect_row(set.test.x.data(), {3.07481552, 5.58481242, -0.18188639, -0.23408176});
  EXPECT_NEAR(mean_square(set.test), 1.28586580, 1e-6);
  EXPECT_NEAR(mean(set.train.y), 0.46081441, 1e-7);
  EXPECT_NEAR(mean(set.test.y), 0.43562753, 1e-7);
}

TEST_F(RealTables, Adult) {
  need("adult");
  if (IsSkipped()) return;
  const RegressionSet set = load_regression_set("adult", folder_);
  EXPECT_EQ(set.train.rows(), 29860);
  EXPECT_EQ(set.test.rows(), 15060);
  EXPECT_EQ(set.train.features, 88);
  expect_standard(set.train);
  expect_row(set.train.x.data(),
             {-0.43927808, -0.14751063, -0.07782662, 0.49952474, -0.44625187, -0.21877409});
  expect_row(set.train.x.data() + set.train.x.size() - 3, {-0.03063589, -0.02523265, -0.00578702});
  EXPECT_NEAR(mean_square(set.test), 0.98958686, 1e-6);
  EXPECT_NEAR(mean(set.train.y), 0.24892833, 1e-7);
  EXPECT_NEAR(mean(set.test.y), 0.24568393, 1e-7);
}

TEST_F(RealTables, News) {
  need("news");
  if (IsSkipped()) return;
  const RegressionSet set = load_regression_set("news", folder_);
  EXPECT_EQ(set.train.features, 58);
  expect_standard(set.train);
  if (set.notes.empty()) return;  // the whole file: its counts were checked on loading
  EXPECT_EQ(set.notes[0], "A subset of the data set news: 20408 of its 39644 rows.");
  EXPECT_EQ(set.train.rows(), 16162);
  EXPECT_EQ(set.test.rows(), 4082);
  expect_row(set.train.x.data(),
             {0.2976553, -0.43448138, -0.39796795, 0.17977175, -0.36947686, -0.68817237});
  EXPECT_NEAR(mean_square(set.test), 0.99935638, 1e-6);
  EXPECT_NEAR(mean(set.train.y), 0.50665203, 1e-7);
  EXPECT_NEAR(set.test.y[1], 0.48121787, 1e-7);
}

TEST_F(RealTables, Blog) {
  need("blog");
  if (IsSkipped()) return;
  const RegressionSet set = load_regression_set("blog", folder_);
  EXPECT_EQ(set.train.rows(), 46814);
  EXPECT_EQ(set.test.rows(), 7027);
  EXPECT_EQ(set.train.features, 276);
  expect_standard(set.train);
  expect_row(set.train.x.data(),
             {-0.30866949, -0.16553939, -0.25001699, -0.31204048, -0.31035044, -0.20419956});
  expect_row(set.test.x.data(), {0.08319122, 1.00621019, -0.25001699, 0.13291751});
  EXPECT_NEAR(mean_square(set.test), 1.27807275, 1e-5);
  EXPECT_NEAR(mean(set.train.y), 0.09477400, 1e-7);
  EXPECT_NEAR(mean(set.test.y), 0.08040416, 1e-7);
}

// The files of the archive in a folder, which lists them in any order.
TEST_F(RealTables, BlogUnpacked) {
  const auto archive =
      folder_.empty() ? std::nullopt : look_for_data_file("blog", "BlogFeedback.zip", folder_);
  if (!archive) GTEST_SKIP() << "there is no BlogFeedback.zip";
  const TestFolder folder;
  const ZipReader zip(std::make_shared<const InputFile>(*archive));
  for (const ZipMember& member : zip.members()) {
    fill_file(folder / member.name, content_of(zip.open(member.name)));
  }
  const RegressionSet packed = load_regression_set("blog", folder_);
  const RegressionSet unpacked = load_regression_set("blog", folder / "");
  EXPECT_EQ(packed.train.y, unpacked.train.y);
  EXPECT_EQ(packed.test.x, unpacked.test.x);
}

}  // namespace
}  // namespace saltus
