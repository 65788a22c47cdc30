// compare(), verify(), logz() and learn(), and the pace of saving.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "io/test_files.hpp"
#include "saltus/compare.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/learn.hpp"
#include "saltus/logz.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/verify.hpp"

namespace saltus {
namespace {

std::shared_ptr<const Target> lattice() {
  return std::make_shared<IsingLattice>(2, 2, true, 0.15, 0.2);
}

TEST(Pacer, SavesWhenDueAndAtMostATenthOfTheTime) {
  int saves = 0;
  Pacer slow(0, 0, [&] {
    ++saves;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  const Stopwatch watch;
  while (watch.seconds() < 0.2) EXPECT_TRUE(slow.next());
  EXPECT_LE(saves, 2);  // one, and after nine times as long another
  EXPECT_GE(saves, 1);
  Pacer never(1000, 0, [&] { saves = 100; });
  EXPECT_TRUE(never.next());
  EXPECT_LT(saves, 100);
}

TEST(Pacer, SaysWhenTimeIsUp) {
  Pacer pacer(1000, 0.02, {});
  EXPECT_TRUE(pacer.next());
  std::this_thread::sleep_for(std::chrono::milliseconds(25));
  EXPECT_FALSE(pacer.next());
}

LogzRequest small_logz() {
  LogzRequest request(lattice());
  request.plan.annealing.betas = linear_betas(300);
  request.plan.annealing.chains = 60;
  request.plan.annealing.threads = 1;
  request.plan.warmup = 300;
  return request;
}

TEST(Services, RefuseARequestWithoutATarget) {
  EXPECT_THROW(logz(LogzRequest()), UsageError);
  EXPECT_THROW(verify({}), UsageError);
  EXPECT_THROW(compare({}), UsageError);
}

TEST(Logz, BracketsTheExactAnswer) {
  const RowBuffer<Symbol> data(3, 4);
  LogzRequest request = small_logz();
  request.test = data.view();
  const LogzResult result = logz(request);
  ASSERT_TRUE(result.estimate && result.exact && result.log_likelihood);
  EXPECT_TRUE(result.tuned);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_NEAR(result.estimate->forward.log_z, *result.exact,
              5 * result.estimate->forward.standard_error);
  EXPECT_EQ(*result.mean_logp, logp_of(*request.target, data.view()[0]));
  EXPECT_DOUBLE_EQ(result.log_likelihood->high, *result.mean_logp - result.estimate->low());
}

TEST(Logz, ContinuesFromItsCheckpoint) {
  const LogzResult whole = logz(small_logz());
  LogzRequest request = small_logz();
  const TestFolder folder;
  request.checkpoint = (folder / "logz.checkpoint").string();
  EXPECT_FALSE(logz(request, [](const LogzStatus&) { return false; }).estimate);
  request.resume = request.checkpoint;
  int calls = 0;
  LogzResult result;
  while (!(result = logz(request, [&](const LogzStatus&) { return ++calls % 2; })).estimate) {
  }
  EXPECT_EQ(result.estimate->forward.log_weights, whole.estimate->forward.log_weights);
  EXPECT_EQ(result.estimate->reverse->log_weights, whole.estimate->reverse->log_weights);
  request.base = Independent::bernoulli(request.target->domain(), std::vector<double>(4, 0.6));
  EXPECT_THROW(logz(request), UsageError);  // another base
}

TEST(Compare, FindsErrorsAndBias) {
  CompareRequest request{lattice(), {{"dmala", {}}, {"dula", {}}}, {}};
  request.plan.seconds = 0.05;
  request.plan.warmup_seconds = 0.02;
  request.plan.threads = 1;
  std::set<std::string> told;
  const CompareResult result = compare(request, [&](const std::string& label, int, int) {
    told.insert(label.substr(0, 4));
    return true;
  });
  EXPECT_EQ(told, (std::set<std::string>{"dmal", "dula"}));
  ASSERT_EQ(result.results.size(), 2u);
  EXPECT_TRUE(std::isnan(result.bias[0]));  // exact
  EXPECT_GT(result.bias[1], 0);
  EXPECT_LT(result.error[0], 0.2);
  EXPECT_EQ(result.per_second.best, 0);
  EXPECT_EQ(result.per_second.second, -1);  // the other one is not exact
}

TEST(Compare, StopsWhenTold) {
  CompareRequest request{lattice(), {}, {}};
  request.plan.seconds = 0.01;
  int turns = 0;
  const CompareResult result =
      compare(request, [&](const std::string&, int, int) { return ++turns < 2; });
  EXPECT_FALSE(result.complete);
  EXPECT_TRUE(result.results.empty());
  EXPECT_EQ(turns, 2);
  request.contenders = {{"no-such-sampler", {}}};
  EXPECT_THROW(compare(request), UsageError);
}

TEST(Verify, AcceptsARightSampler) {
  const VerifyResult result = verify({lattice(), "gwg", {}, {}});
  EXPECT_TRUE(result.good());
  EXPECT_EQ(result.checks.front().name, "gradient");
  EXPECT_EQ(result.checks.back().name, "steps");
  EXPECT_EQ(result.checks.back().outcome, Check::Outcome::good);
}

// A lattice whose score has the wrong sign.
class WrongScore final : public Target {
 public:
  std::string name() const override { return "wrong"; }
  const Domain& domain() const override { return lattice_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    lattice_.evaluate(at, x, logp, score);
    for (int r = 0; score && r < x.rows; ++r) {
      for (float& s : score.row(r)) s = -s;
    }
  }

 private:
  IsingLattice lattice_{2, 2, true, 0.15, 0.2};
};

TEST(Verify, FindsAWrongGradientAndStopsWhenTold) {
  int told = 0;
  const VerifyResult result =
      verify({std::make_shared<WrongScore>(), "dmala", {}, {}}, [&](const Check& check) {
        ++told;
        return check.outcome != Check::Outcome::failed;
      });
  EXPECT_FALSE(result.good());
  EXPECT_EQ(told, 1);
  EXPECT_EQ(result.checks.size(), 1u);
}

RowBuffer<Symbol> some_data(int rows, int cols) {
  RowBuffer<Symbol> data(rows, cols);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(5, static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (int c = 0; c < cols; ++c) {
      data.view()[r][c] = stream.uniform(static_cast<std::uint32_t>(c)) < 0.3 + 0.1 * (c % 4);
    }
  }
  return data;
}

class Learn : public testing::TestWithParam<const char*> {};

TEST_P(Learn, AStoppedLearningContinues) {
  const TestFolder folder;
  const RowBuffer<Symbol> data = some_data(40, 6);
  LearnRequest request = learn_request(GetParam());
  request.data = data.view();
  request.hidden = 4;
  request.plan.batch = 10;
  if (request.plan.chains > 0) request.plan.chains = 8;
  request.plan.steps = 3;
  request.plan.threads = 1;
  request.iterations = 12, request.epochs = 0;
  const auto parameters = [](const LearnResult& result) {
    const auto p = result.model->parameters();
    return std::vector<float>(p.begin(), p.end());
  };
  const LearnResult whole = learn(request);
  EXPECT_TRUE(whole.complete);
  EXPECT_EQ(whole.totals.iterations, 12u);

  request.checkpoint = (folder / "learn.checkpoint").string();
  request.notes["out"] = "model.json";
  const LearnResult half =
      learn(request, [](const LearnStatus& s) { return s.totals.iterations < 5; });
  EXPECT_FALSE(half.complete);
  EXPECT_EQ(half.totals.iterations, 5u);
  EXPECT_NE(parameters(half), parameters(whole));

  LearnRequest again = resumed_learning(request.checkpoint);
  EXPECT_EQ(again.notes["out"], "model.json");
  const RowBuffer<Symbol> other = some_data(41, 6);
  again.data = other.view();
  EXPECT_THROW(learn(again), DataError);
  again.data = data.view();
  again.plan.threads = 1;
  const LearnResult result = learn(again);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(parameters(result), parameters(whole));

  // In memory, and then with other data.
  request.checkpoint.clear();
  request.iterations = 5;
  LearnRun first(request);
  ASSERT_TRUE(first.go());
  request.before = first.state();
  request.iterations = 7;
  const LearnResult continued = learn(request);
  EXPECT_EQ(continued.totals.iterations, 12u);
  EXPECT_EQ(parameters(continued), parameters(whole));
  request.data = other.view();
  EXPECT_NE(parameters(learn(request)), parameters(whole));
  const RowBuffer<Symbol> narrower = some_data(40, 5);
  request.data = narrower.view();
  EXPECT_THROW(learn(request), DataError);
}
INSTANTIATE_TEST_SUITE_P(Kinds, Learn, testing::Values("rbm", "ising"));

TEST(LearnRequest, RefusesAnUnknownKind) {
  EXPECT_THROW(learn_request("transformer"), UsageError);
}

}  // namespace
}  // namespace saltus
