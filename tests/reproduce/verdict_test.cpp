// The rule for verdicts: Student's t, Holm's correction, and that it is two-sided.
#include "reproduce/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "reproduce/bnn/cell.hpp"
#include "reproduce/output.hpp"

namespace saltus::reproduce {
namespace {

Measured of(double mean, double sd, int runs) {
  return {mean, sd, sd / std::sqrt(runs), runs};
}

// From tables of Student's distribution.
TEST(Verdicts, StudentsT) {
  for (const auto& [degrees, t] : {std::pair{1, 12.7062047},
                                   {2, 4.3026527},
                                   {3, 3.1824463},
                                   {4, 2.7764451},
                                   {7, 2.3646243},
                                   {19, 2.0930241},
                                   {39, 2.0226909}}) {
    EXPECT_NEAR(student_t95(degrees), t, 1e-6) << degrees;
    EXPECT_NEAR(student_p(-t, degrees), 0.05, 1e-8) << degrees;
  }
  EXPECT_NEAR(student_p(1, 1), 0.5, 1e-12);  // Cauchy
  EXPECT_NEAR(student_p(std::sqrt(2.0), 2), 1 - std::sqrt(0.5), 1e-12);
  EXPECT_DOUBLE_EQ(student_p(0, 5), 1);
}

TEST(Verdicts, HolmsCorrection) {
  const double p[] = {0.01, 0.04, 0.03, NAN, 0.005};
  const std::vector<double> adjusted = holm(p);
  EXPECT_DOUBLE_EQ(adjusted[4], 0.02);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);  // 0.04, but no smaller than the one before
  EXPECT_TRUE(std::isnan(adjusted[3]));
}

TEST(Verdicts, NumbersWithAPrintedDeviation) {
  // sqrt((2.776 * 0.002)^2 + (1.96 * 0.003)^2) = 0.00809, and 0.0001 for the last digit.
  const Measured ours = of(-0.4, 0.002 * std::sqrt(5), 5);
  for (const int side : {-1, 1}) {
    EXPECT_EQ(judge_number(ours, {-0.4 + side * 0.0081, 0.003, 1e-4}), Verdict::agrees);
    EXPECT_EQ(judge_number(ours, {-0.4 + side * 0.0083, 0.003, 1e-4}), Verdict::differs);
  }
  EXPECT_EQ(judge_number({-0.4}, {-0.4, 0.003, 1e-4}), Verdict::undecided);  // one run
}

TEST(Verdicts, NumbersWithoutADeviation) {
  // One more run of ours: 2.776 * 0.1 * sqrt(1.2) = 0.3041.
  const Measured ours = of(2, 0.1, 5);
  for (const int side : {-1, 1}) {
    EXPECT_EQ(judge_number(ours, {2 + side * 0.303}), Verdict::agrees);
    EXPECT_EQ(judge_number(ours, {2 + side * 0.306}), Verdict::differs);
    EXPECT_EQ(judge_number(ours, {2 + side * 0.306, {}, 0.01}), Verdict::agrees);
  }
}

TEST(Verdicts, SignsAreTwoSided) {
  EXPECT_EQ(judge_sign(of(-1, 0.7, 5), Sign::negative), Verdict::agrees);  // t = 3.2
  EXPECT_EQ(judge_sign(of(-1, 0.7, 5), Sign::positive), Verdict::differs);
  EXPECT_EQ(judge_sign(of(-1, 0.9, 5), Sign::negative), Verdict::undecided);  // t = 2.5
  EXPECT_EQ(judge_sign({-1}, Sign::negative), Verdict::undecided);
}

// What one comparison would show is not enough among several.
TEST(Verdicts, SeveralComparisonsAreCorrected) {
  const std::vector<Measured> both = {of(-1, 0.7, 5), of(-1, 2, 5)};
  EXPECT_EQ(judge_signs(both, Sign::negative),
            (std::vector{Verdict::undecided, Verdict::undecided}));
  const std::vector<Measured> clear = {of(-1, 0.3, 5), of(1, 0.3, 5), of(-1, 2, 5)};
  EXPECT_EQ(judge_signs(clear, Sign::negative),
            (std::vector{Verdict::agrees, Verdict::differs, Verdict::undecided}));
}

TEST(Verdicts, Similar) {
  EXPECT_EQ(judge_similar(of(1, 0.05, 5), 0.8, 1.25), Verdict::agrees);
  EXPECT_EQ(judge_similar(of(2, 0.05, 5), 0.8, 1.25), Verdict::differs);
  EXPECT_EQ(judge_similar(of(0.5, 0.05, 5), 0.8, 1.25), Verdict::differs);
  EXPECT_EQ(judge_similar(of(1.2, 0.2, 5), 0.8, 1.25), Verdict::undecided);
}

TEST(Verdicts, Intervals) {
  EXPECT_EQ(judge_interval(-80, -79, -78.1, 1), Verdict::agrees);
  EXPECT_EQ(judge_interval(-80, -79, -77.9, 1), Verdict::differs);
  EXPECT_EQ(judge_interval(-80, -79, -81.1, 1), Verdict::differs);
}

// The files of whole runs: their verdicts are what the rule makes of their numbers.
class KeptVerdicts : public testing::Test {
 protected:
  Json read(const std::string& folder) {
    std::ifstream file(std::string(SALTUS_SOURCE_FOLDER "/results/") + folder + "/results.json");
    const Json json = Json::parse(file);
    seeds_ = json.at("seeds");
    return json.at("rows");
  }
  // Of a row: its spread is the standard error over all seeds.
  Measured measured_in(const Json& row) const {
    const double error = row.at("spread");
    return {row.at("ours"), error * std::sqrt(seeds_), error, seeds_};
  }

 private:
  int seeds_ = 0;
};

TEST_F(KeptVerdicts, OfBinaryNetworks) {
  int judged = 0, short_of_it = 0;
  for (const Json& row : read("bnn")) {
    if (row.at("paper").is_null()) continue;
    const std::string set = row.at("setting").at("data"), sampler = row.at("setting").at("sampler");
    const auto known = bnn::published(set, sampler);
    ASSERT_TRUE(known);
    const bool fit = row.at("quantity") == "log_likelihood";
    const bnn::PublishedNumber& paper = fit ? known->log_likelihood : known->test_rmse;
    EXPECT_EQ(row.at("paper"), paper.value);
    EXPECT_EQ(row.at("verdict"), verdict_text(judge_number(measured_in(row), paper.printed())))
        << row;
    ++judged;
    const bool baseline = sampler == "Gibbs" || sampler == "GWG";
    const double change = row.at("ours").get<double>() - paper.value;
    short_of_it += baseline && (set == "adult" || set == "blog") && (fit ? change < 0 : change > 0);
  }
  EXPECT_EQ(judged, 56);
  EXPECT_EQ(short_of_it, 8);  // docs/bnn.md says so
}

TEST_F(KeptVerdicts, OfText) {
  for (const char* folder : {"text-tiny", "text-mini"}) {
    std::vector<Measured> more;
    std::vector<std::string> verdicts;
    for (const Json& row : read(folder)) {
      const std::string quantity = row.at("quantity");
      if (quantity.ends_with("_ratio")) {
        EXPECT_EQ(row.at("verdict"), verdict_text(judge_similar(measured_in(row), 0.9, 1 / 0.9)));
      }
      if (!quantity.ends_with("_difference")) continue;
      more.push_back(measured_in(row));
      if (quantity == "self_bleu_difference") more.back().mean *= -1;
      verdicts.push_back(row.at("verdict"));
    }
    ASSERT_EQ(more.size(), 28u);
    const std::vector<Verdict> judged = judge_signs(more, Sign::positive);
    for (std::size_t k = 0; k < more.size(); ++k) EXPECT_EQ(verdicts[k], verdict_text(judged[k]));
  }
}

}  // namespace
}  // namespace saltus::reproduce
