// What is said of a ladder, and the services that temper.
#include <gtest/gtest.h>

#include <cmath>

#include "io/test_files.hpp"
#include "saltus/core/error.hpp"
#include "saltus/logz.hpp"
#include "service/parts.hpp"
#include "temper/models.hpp"
#include "temper/tempering_json.hpp"

namespace saltus {
namespace {

// One that nothing speaks against.
TemperingReport good_report() {
  TemperingReport r;
  r.betas = {0, .4, 1};
  r.rejection = {.5, .5};
  r.barrier = 1;
  r.recommended_replicas = 3;
  r.round_trips = 40, r.restarts = 41;
  r.log_z_gap_error = .1;
  r.log_z = 3, r.log_z_error = .1, r.log_z_forward = 2.9, r.log_z_backward = 3.1;
  r.correlation = {NAN, .5, .9};
  return r;
}

TEST(TemperingWarnings, NameWhatIsWrongWithALadder) {
  EXPECT_TRUE(tempering_warnings(good_report()).empty());
  const auto expect = [](const std::string& words, auto&& change) {
    TemperingReport r = good_report();
    change(r);
    const Warnings found = tempering_warnings(r);
    ASSERT_EQ(found.size(), 1u) << words;
    EXPECT_NE(found[0].sentence.find(words), std::string::npos) << found[0].sentence;
  };
  expect("no state has gone from the base to the model and back: the draws may miss modes",
         [](auto& r) { r.round_trips = 0; });
  expect("9 times only", [](auto& r) { r.restarts = 9; });
  expect("between beta = 0.4 and 1 are rejected with probability 0.960",
         [](auto& r) { r.rejection[1] = .96; });
  expect("4 replicas would exchange states best",
         [](auto& r) { r.barrier = 1.31, r.recommended_replicas = 4; });
  expect("is above the upper one", [](auto& r) { r.log_z_forward = 3.51; });
  expect("at beta = 0.4, 1 (correlation above 0.95)", [](auto& r) {
    r.correlation = {NAN, .96, .99};
  });
  expect("tempering is not needed", [](auto& r) { r.rejection = {0, 0}; });
}

TEST(TemperingRecord, ComesBackOrIsRefused) {
  TemperingReport r = good_report();
  r.acceptance = r.step_size = r.correlation;
  r.paths = {{0, 1, 2}, {1, 0, 2}};
  const std::string text = tempering_record(r);
  const TemperingReport back = read_tempering_record(text);
  EXPECT_EQ(tempering_record(back), text);
  EXPECT_EQ(back.paths, r.paths);
  EXPECT_TRUE(std::isnan(back.correlation[0]));
  r.paths[1][0] = 3;
  EXPECT_THROW(read_tempering_record(tempering_record(r)), DataError);
  for (const char* bad : {"", "{}", "[]", "{\"betas\": 1}"}) {
    EXPECT_THROW(read_tempering_record(bad), DataError) << bad;
  }
}

TEST(LogzByTempering, IsRightAndStopsAndContinues) {
  LogzRequest request(glass10());
  request.annealing = false;
  EXPECT_THROW(logz(request), UsageError);
  request.tempering.emplace();
  request.tempering->run.draws = 5000;
  const LogzResult whole = logz(request);
  ASSERT_TRUE(whole.complete);
  EXPECT_FALSE(whole.estimate);
  EXPECT_NEAR(whole.tempering->log_z, 18.6674094053, .1);
  EXPECT_NEAR(*whole.exact, 18.6674094053, 1e-9);
  EXPECT_LT(whole.low(), whole.high());
  const TestFolder folder;
  request.checkpoint = (folder / "z").string();
  int told = 0;
  const LogzResult part = logz(request, [&](const LogzStatus& s) {
    EXPECT_EQ(s.stage, LogzStatus::Stage::tempering);
    return ++told < 3;
  });
  EXPECT_FALSE(part.complete);
  request.resume = request.checkpoint;
  const LogzResult rest = logz(request);
  EXPECT_EQ(rest.tempering->log_z, whole.tempering->log_z);
  EXPECT_EQ(rest.tempering->betas, whole.tempering->betas);
  request.tempering->run.draws = 6000;
  EXPECT_THROW(logz(request), UsageError);
}

}  // namespace
}  // namespace saltus
