// Cells of the tables on binary networks, on made-up data.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "reproduce/bnn/cell.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce::bnn {
namespace {

namespace fs = std::filesystem;

RegressionRows made_up_rows(int rows) {
  const Stream s(7, 0, 0, Purpose::check);
  RegressionRows data;
  data.features = 4;
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int f = 0; f < 4; ++f) {
      const double z = 3.4 * (s.uniform(static_cast<std::uint32_t>(4 * r + f)) - 0.5);
      data.x.push_back(static_cast<float>(z));
      sum += f % 2 ? z : -z;
    }
    data.y.push_back(sum > 0 ? 1.0f : 0.0f);
  }
  return data;
}

RegressionSet made_up_set() {
  const RegressionRows rows = made_up_rows(90);
  return {"made-up", rows, rows, {}, {}};
}

constexpr Scale kSmall = {1, 20, 43, 5};

Course course_of(const Entrant& entrant, const Scale& scale, int threads = 1) {
  Options options;
  options.threads = threads;
  Context context(options, {});
  return run_cell(context, made_up_set(), entrant, scale, 3);
}

// One chain, tested on what it is sampled from: the two measures are the same thing.
TEST(BnnCell, MeasuresFitAndTestError) {
  for (const Entrant& entrant : entrants({0.1})) {
    if (entrant.batch > 90) continue;
    SCOPED_TRACE(entrant.label);
    const Course course = course_of(entrant, kSmall);
    ASSERT_EQ(course.log_likelihood.size(), 10u);  // after 1, 6, ..., 41 and 43 steps
    ASSERT_EQ(course.test_rmse.size(), 10u);
    for (std::size_t k = 0; k < 10; ++k) {
      EXPECT_NEAR(course.test_rmse[k], std::sqrt(-course.log_likelihood[k]), 1e-5) << k;
    }
    EXPECT_GT(course.acceptance, 0);
    EXPECT_LE(course.acceptance, 1 + 1e-12);
    EXPECT_GT(course.seconds, 0);
  }
}

// The mean prediction of several chains is never worse than the chains are on average (Jensen).
TEST(BnnCell, TheMeanPredictionIsThatOfAllChains) {
  const Scale scale = {6, 20, 21, 5};
  const Course course = course_of({"DMALA", "dmala", 0.1}, scale);
  for (std::size_t k = 0; k < course.test_rmse.size(); ++k) {
    EXPECT_LT(course.test_rmse[k], std::sqrt(-course.log_likelihood[k]));
  }
  EXPECT_GT(course.log_likelihood.back(), course.log_likelihood.front());  // it learns something
  const Course again = course_of({"DMALA", "dmala", 0.1}, scale, 2);
  EXPECT_EQ(course.log_likelihood, again.log_likelihood);
  EXPECT_EQ(course.test_rmse, again.test_rmse);
}

// A batch of all rows is the full data: the same steps, measured the other way.
TEST(BnnCell, ABatchOfAllRowsIsNoneAtAll) {
  const Scale scale = {3, 20, 21, 5};
  const Course full = course_of({"DULA", "dula", 0.1}, scale);
  const Course batch = course_of({"DULA, batch 90", "dula", 0.1, {}, 90}, scale);
  for (std::size_t k = 0; k < full.log_likelihood.size(); ++k) {
    EXPECT_NEAR(full.log_likelihood[k], batch.log_likelihood[k], 1e-6);
  }
}

TEST(BnnCell, TheLastTenthOfStepsCountsAlone) {
  const Course gibbs = course_of(entrants({})[0], kSmall);
  EXPECT_DOUBLE_EQ(gibbs.acceptance, 1);
  EXPECT_DOUBLE_EQ(gibbs.last_acceptance, 1);
  EXPECT_LE(gibbs.last_changed, 1);
}

TEST(BnnShelf, FindsWhatItKept) {
  const fs::path folder = fs::path(testing::TempDir()) / "bnn-shelf";
  fs::remove_all(folder);
  const Shelf shelf(folder / "partial");
  const RegressionSet set = made_up_set();
  const Entrant dula = {"DULA", "dula", 0.1};
  const Json key = key_of(set, dula, kSmall, Device::cpu, 5);
  EXPECT_FALSE(shelf.find(key));
  shelf.keep(key, {{-0.3, -0.25}, {0.5, 0.45}, 0.9, 0.8, 12.5, 3.25});
  const std::optional<Course> found = shelf.find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->log_likelihood, (std::vector<double>{-0.3, -0.25}));
  EXPECT_EQ(found->test_rmse, (std::vector<double>{0.5, 0.45}));
  EXPECT_EQ(found->acceptance, 0.9);
  EXPECT_EQ(found->last_acceptance, 0.8);
  EXPECT_EQ(found->last_changed, 12.5);
  EXPECT_EQ(found->seconds, 3.25);
  // Another computation.
  Scale other = kSmall;
  ++other.steps;
  EXPECT_FALSE(shelf.find(key_of(set, dula, other, Device::cpu, 5)));
  EXPECT_FALSE(shelf.find(key_of(set, dula, kSmall, Device::cuda, 5)));
  EXPECT_FALSE(shelf.find(key_of(set, dula, kSmall, Device::cpu, 6)));
  EXPECT_FALSE(shelf.find(key_of(set, {"DULA 0.2", "dula", 0.2}, kSmall, Device::cpu, 5)));
  EXPECT_FALSE(shelf.find(key_of(set, {"DULA", "dula", 0.1, {}, 10}, kSmall, Device::cpu, 5)));
  // A file that was cut off.
  for (const auto& entry : fs::directory_iterator(folder / "partial")) {
    fs::resize_file(entry.path(), 40);
  }
  EXPECT_FALSE(shelf.find(key));
  Shelf("").keep(key, {});
  EXPECT_FALSE(Shelf("").find(key));
  fs::remove_all(folder);
}

TEST(BnnTables, HaveAllCellsOfThePaper) {
  for (const char* set : {"compas", "news", "adult", "blog"}) {
    EXPECT_EQ(scale_of(set, false).hidden, std::string(set) == "blog" ? 100 : 500);
    for (const Entrant& entrant : entrants({kPaperAlpha})) {
      const auto paper = published(set, entrant.label);
      ASSERT_TRUE(paper) << set << " " << entrant.label;
      EXPECT_LT(paper->log_likelihood.value, -0.2);
      EXPECT_GT(paper->test_rmse.value, 0.09);
      for (const PublishedNumber& number : {paper->log_likelihood, paper->test_rmse}) {
        EXPECT_GE(number.deviation, 0.0001) << set << " " << entrant.label;
        EXPECT_LE(number.deviation, 0.0072) << set << " " << entrant.label;
      }
      for (const double v : paper->authors_log_likelihood) {
        EXPECT_NEAR(v, paper->log_likelihood.value, 0.016) << set << " " << entrant.label;
      }
    }
    EXPECT_FALSE(published(set, "DULA 0.2"));
  }
}

TEST(Parts, AreNamedOrRefused) {
  const Experiment& bnn = find_experiment("bnn");
  using Names = std::vector<std::string>;
  EXPECT_EQ(parts_of(bnn, "", false), (Names{"compas", "news", "adult", "blog"}));
  EXPECT_EQ(parts_of(bnn, "", true), Names{"compas"});
  EXPECT_EQ(parts_of(bnn, "blog,compas", true), (Names{"blog", "compas"}));
  EXPECT_THROW(parts_of(bnn, "blog,,compas", false), UsageError);
  EXPECT_THROW(parts_of(bnn, "mnist", false), UsageError);
  EXPECT_THROW(parts_of(find_experiment("rbm"), "mnist", false), UsageError);
}

}  // namespace
}  // namespace saltus::reproduce::bnn
