// What every experiment relies on: tasks, stopping, data, output.
#include "reproduce/experiment.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "reproduce/output.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {
namespace {

Results no_results(Context&) {
  return {};
}

Experiment made_up(std::vector<std::string> data) {
  return {"made-up", "nothing", "1 s", "1 s", 3, 1, no_results, std::move(data)};
}

TEST(Context, RunsEveryTaskAndTellsOfIt) {
  Options options;
  options.threads = 2;
  int told = 0;
  Context context(options, [&](const std::string&) { return ++told > 0; });
  std::atomic<int> sum = 0;
  context.parallel("adding", 10, [&](int task) { sum += task; });
  EXPECT_EQ(sum, 45);
  EXPECT_EQ(told, 11);
}

TEST(Context, StopsWhenAsked) {
  Options options;
  options.threads = 1;
  std::atomic<int> done = 0;
  Context context(options, [&](const std::string&) { return done < 3; });
  EXPECT_THROW(context.parallel("counting", 100, [&](int) { ++done; }), Interrupted);
  EXPECT_LT(done, 100);
  EXPECT_THROW(context.progress("more"), Interrupted);
}

TEST(Context, SeedsAndStepSizes) {
  Options options;
  options.seed = 7;
  Context usual(options, {});
  EXPECT_EQ(usual.seed(2), 9U);
  EXPECT_EQ(usual.alphas({1, 2}), (std::vector<double>{1, 2}));
  options.alphas = {0.5};
  EXPECT_EQ(Context(options, {}).alphas({1, 2}), std::vector<double>{0.5});
}

TEST(Experiments, AreFoundByName) {
  EXPECT_EQ(find_experiment("theory").name, "theory");
  EXPECT_THROW(find_experiment("alchemy"), UsageError);
}

TEST(Experiments, MissingDataIsNamed) {
  check_data(made_up({}), "");
  try {
    check_data(made_up({"mnist"}), "/nowhere");
    FAIL();
  } catch (const FileError& e) {
    EXPECT_FALSE(e.writing);
    const std::string text = e.what();
    for (const char* part : {"train-images-idx3-ubyte", "Published by", "/nowhere"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part;
    }
  }
}

TEST(Output, MeasuredNumbers) {
  const double runs[] = {1, 2, 3, 6};
  const Measured m = measured(runs);
  EXPECT_DOUBLE_EQ(m.mean, 3);
  EXPECT_NEAR(m.sd, std::sqrt(14.0 / 3), 1e-15);
  EXPECT_NEAR(*m.error, std::sqrt(14.0 / 12), 1e-15);
  EXPECT_FALSE(measured(std::span(runs, 1)).error);
}

TEST(Output, ResultsAsJson) {
  const Experiment experiment = made_up({});
  Results results;
  results.rows = {
      {"x", {{"alpha", 0.5}, {"p", {1000.0, 0.001}}}, 1.0, 2.0, 0.25, Verdict::differs, "n"},
      {"y", Json::object(), {}, NAN, {}, Verdict::not_published, ""}};
  results.sections.push_back({"S", {}, {{.title = "t"}}, {}, {}, ""});
  results.sections[0].plots[0].series = {{"a", {1, 2}, {3, INFINITY}, {}, {}, {}}};
  // As a reader of the file sees it: numbers that are not finite are null there.
  const Json j = Json::parse(
      results_json(results, {experiment, {}, "saltus reproduce made-up", 1.5, "a machine"}).dump());
  EXPECT_EQ(j["experiment"], "made-up");
  EXPECT_EQ(j["rows"][0]["verdict"], "differs");
  EXPECT_EQ(j["rows"][0]["paper"], 1.0);
  EXPECT_EQ(j["rows"][0]["spread"], 0.25);
  EXPECT_TRUE(j["rows"][1]["ours"].is_null());
  EXPECT_TRUE(j["rows"][1]["spread"].is_null());
  EXPECT_EQ(setting_text(results.rows[0].setting), "alpha 0.5, p (1000, 0.001)");
  const Json curves = Json::parse(curves_json(results).dump());
  EXPECT_EQ(curves["curves"][0]["series"][0]["y"], Json::parse("[3.0, null]"));
}

TEST(Output, StatementsThatDoNotHoldComeFirst) {
  Results results;
  results.rows = {{"other", Json::object(), {}, 1, {}, Verdict::not_published, "unseen"},
                  {"good", Json::object(), 1.0, 1, {}, Verdict::agrees, "unseen"},
                  {"bad", Json::object(), 1.0, 2, {}, Verdict::cannot_hold, "because"}};
  const std::string text = results_text(results);
  EXPECT_LT(text.find("bad"), text.find("good"));
  EXPECT_LT(text.find("good"), text.find("other"));
  EXPECT_NE(text.find("because"), std::string::npos);
  EXPECT_EQ(text.find("unseen"), std::string::npos);
}

TEST(Output, NumbersHaveTheDigitsOfTheirSpread) {
  EXPECT_EQ(number_text(-4.51532, 0.056), "-4.515");
  EXPECT_EQ(number_text(255733.7, 5300), "255734");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(NAN), "-");
}

}  // namespace
}  // namespace saltus::reproduce
