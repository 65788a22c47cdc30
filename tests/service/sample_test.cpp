// sample(): draws in memory, in arrays and on disk are the same; a stopped run continues.
#include "saltus/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "io/test_files.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

constexpr int kChains = 3;
constexpr std::size_t kDraws = 400;

std::shared_ptr<const Target> lattice() {
  return std::make_shared<IsingLattice>(2, 3, true, 0.15, 0.2);
}

SampleRequest small_request(std::shared_ptr<const Target> target = lattice()) {
  SampleRequest request(std::move(target));
  request.plan.chains = kChains;
  request.plan.warmup = 50;
  request.plan.draws = kDraws;
  request.plan.seed = 7;
  request.plan.threads = 1;
  request.plan.round_seconds = 0;  // many short rounds
  return request;
}

// All states and log p, chain after chain.
struct All {
  std::vector<Symbol> states;
  std::vector<double> logp;
  bool operator==(const All&) const = default;
};
All all_of(const Draws& draws) {
  All all;
  const auto n = draws.draws();
  const auto dim = static_cast<std::size_t>(draws.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    std::vector<Symbol> x(n * dim);
    std::vector<double> logp(n);
    draws.read_states(chain, 0, {x.data(), static_cast<int>(n), draws.dim(), draws.dim()});
    draws.read_logp(chain, 0, logp);
    all.states.insert(all.states.end(), x.begin(), x.end());
    all.logp.insert(all.logp.end(), logp.begin(), logp.end());
  }
  return all;
}

// A run with the caller's arrays.
struct ArraysOfCaller {
  explicit ArraysOfCaller(std::uint64_t draws, std::size_t dim = 6)
      : states(kChains * draws * dim), logp(kChains * draws) {}
  std::vector<Symbol> states;
  std::vector<double> logp;
  SampleRequest request(std::uint64_t draws) {
    SampleRequest r = small_request();
    r.plan.draws = draws;
    r.keep = Keep::arrays;
    r.arrays.states = states;
    r.arrays.logp = logp;
    return r;
  }
};

TEST(Sample, ContinuesInMemoryFromItsState) {
  ArraysOfCaller first(150), more(kDraws);
  SampleRun begun(first.request(150));
  begun.start();
  ASSERT_TRUE(begun.go());
  const std::vector<std::byte> state = begun.state();
  for (int chain = 0; chain < kChains; ++chain) {
    const auto c = static_cast<std::size_t>(chain);
    std::copy_n(first.states.begin() + chain * 150 * 6, 150 * 6,
                more.states.begin() + static_cast<std::ptrdiff_t>(c * kDraws * 6));
    std::copy_n(first.logp.begin() + chain * 150, 150,
                more.logp.begin() + static_cast<std::ptrdiff_t>(c * kDraws));
  }
  SampleRun continued(more.request(kDraws));
  continued.start_from(state);
  ASSERT_TRUE(continued.go());
  const SampleResult whole = sample(small_request()), result = continued.result();
  EXPECT_EQ(all_of(*result.draws), all_of(*whole.draws));
  EXPECT_EQ(result.mean, whole.mean);
  EXPECT_LT(state.size(), first.states.size() * sizeof(Symbol));
  SampleRun other(first.request(100));  // fewer draws than were made
  EXPECT_THROW(other.start_from(state), UsageError);
}

TEST(Sample, KeepsTheColumnsThatAreNamed) {
  SampleRequest request = small_request();
  request.columns = {1, 4};
  const SampleResult some = sample(request);
  request.columns.clear();
  const All all = all_of(*sample(request).draws), kept = all_of(*some.draws);
  ASSERT_EQ(some.draws->dim(), 2);
  for (std::size_t row = 0; row < all.logp.size(); ++row) {
    ASSERT_EQ(kept.states[2 * row], all.states[6 * row + 1]);
    ASSERT_EQ(kept.states[2 * row + 1], all.states[6 * row + 4]);
  }
  EXPECT_EQ(some.watched, (std::vector<int>{1, 4}));
  for (const std::vector<int>& wrong : {std::vector<int>{4, 1}, {1, 1}, {-1}, {6}}) {
    request.columns = wrong;
    EXPECT_THROW(sample(request), UsageError);
  }
}

TEST(Sample, MemoryAndDiskHoldTheSameDraws) {
  SampleRequest request = small_request();
  const SampleResult in_memory = sample(request);
  request.keep = Keep::disk;
  const SampleResult on_disk = sample(request);
  EXPECT_TRUE(in_memory.complete);
  EXPECT_EQ(in_memory.draws_made, kDraws);
  EXPECT_EQ(all_of(*in_memory.draws), all_of(*on_disk.draws));
  EXPECT_EQ(in_memory.mean, on_disk.mean);
  EXPECT_GT(in_memory.draws->info().step_size, 0);
}

TEST(Sample, LogpIsThatOfTheStates) {
  const SampleResult result = sample(small_request());
  const All all = all_of(*result.draws);
  for (std::size_t row = 0; row < all.logp.size(); ++row) {
    EXPECT_NEAR(all.logp[row], logp_of(*result.target, all.states.data() + 6 * row), 1e-5);
  }
}

TEST(Sample, CallersArraysAreFilledByTheirStrides) {
  SampleRequest request = small_request();
  const All expected = all_of(*sample(request).draws);
  // Coordinates outermost, with a gap of one entry behind every draw.
  std::vector<Symbol> states(6 * kChains * kDraws * 2, 99);
  std::vector<double> logp(kChains * kDraws);
  request.keep = Keep::arrays;
  request.arrays = {states, {2 * kDraws, 2, 2 * kDraws * kChains}, logp, {1, kChains}};
  const SampleResult result = sample(request);
  for (std::size_t c = 0; c < kChains; ++c) {
    for (std::size_t t = 0; t < kDraws; ++t) {
      EXPECT_EQ(logp[c + kChains * t], expected.logp[c * kDraws + t]);
      for (std::size_t i = 0; i < 6; ++i) {
        const std::size_t at = 2 * (kDraws * (kChains * i + c) + t);
        EXPECT_EQ(states[at], expected.states[(c * kDraws + t) * 6 + i]);
        EXPECT_EQ(states[at + 1], 99);
      }
    }
  }
  EXPECT_EQ(all_of(*result.draws), expected);
}

TEST(Sample, CallersBytesHoldWhatLevelsDo) {
  SampleRequest request = small_request();
  const All expected = all_of(*sample(request).draws);
  std::vector<std::uint8_t> bytes(6 * kChains * kDraws, 99);
  request.keep = Keep::arrays;
  request.arrays.bytes = bytes;
  const SampleResult result = sample(request);
  EXPECT_TRUE(std::ranges::equal(bytes, expected.states));
  EXPECT_EQ(all_of(*result.draws).states, expected.states);
  request.arrays.bytes = std::span(bytes).first(bytes.size() - 1);
  EXPECT_THROW(sample(request), UsageError);
  SampleRequest wide(shared_target(load_model("poisson")));  // up to 65536 levels
  std::vector<std::uint8_t> counts(3 * 4 * 10);
  wide.keep = Keep::arrays;
  wide.plan.draws = 10;
  wide.arrays.bytes = counts;
  EXPECT_THROW(sample(wide), UsageError);
}

TEST(Sample, RefusesArraysThatAreTooSmall) {
  std::vector<Symbol> states(6 * kChains * kDraws - 1);
  SampleRequest request = small_request();
  request.keep = Keep::arrays;
  EXPECT_THROW(sample(request), UsageError);
  request.arrays.states = states;
  EXPECT_THROW(sample(request), UsageError);
  states.push_back(0);
  std::vector<double> logp(kChains * kDraws - 1);
  request.arrays.states = states;
  EXPECT_TRUE(sample(request).complete);  // no log p is wanted
  request.arrays.logp = logp;
  EXPECT_THROW(sample(request), UsageError);
}

// Chains 0, 1 and chain 2 in two runs, merged: the draws of one run.
TEST(DrawArrays, MergedPartsAreTheWhole) {
  const auto target = lattice();
  const auto record = [&](std::uint32_t first, int chains, DrawArrays& draws) {
    RunPlan plan = small_request().plan;
    plan.first_chain = first;
    plan.chains = chains;
    saltus::Run run(*target, make_sampler("dmala", *target, {{"step_size", "0.3"}}), plan);
    run.add(draws);
    run.go();
  };
  DrawArrays whole({}, 6, 3, kDraws, {}), first({}, 6, 2, kDraws, {}), rest({}, 6, 1, kDraws, {});
  record(0, 3, whole);
  record(0, 2, first);
  record(2, 1, rest);
  first.merge(rest);
  EXPECT_EQ(first.chains(), 3);
  EXPECT_EQ(all_of(first), all_of(whole));
  DrawArrays other({}, 6, 1, kDraws, {0, 3});
  EXPECT_THROW(first.merge(other), UsageError);
}

TEST(Sample, KeepsSpreadCoordinates) {
  SampleRequest request = small_request();
  const All all = all_of(*sample(request).draws);
  request.coordinates = 3;
  const SampleResult result = sample(request);
  EXPECT_EQ(result.watched, (std::vector<int>{0, 2, 4}));
  const All some = all_of(*result.draws);
  for (std::size_t row = 0; row < kChains * kDraws; ++row) {
    EXPECT_EQ(some.states[3 * row + 1], all.states[6 * row + 2]);
  }
}

TEST(Sample, MomentsKeepNoDraws) {
  SampleRequest request = small_request();
  const std::vector<double> mean = sample(request).mean;
  request.keep = Keep::moments;
  const SampleResult result = sample(request);
  EXPECT_EQ(result.draws, nullptr);
  EXPECT_EQ(result.summaries.size(), 6u);
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(result.mean[i], mean[i], 1e-12);
}

class Continued : public testing::TestWithParam<Keep> {};

// Whatever is kept: a run that the callback stops, and that goes on from its checkpoint, makes the
// draws of one that was never stopped.
TEST_P(Continued, MakesTheSameDraws) {
  const TestFolder folder;
  std::vector<Symbol> states(6 * kChains * kDraws);
  std::vector<double> logp(kChains * kDraws);
  SampleRequest request = small_request();
  request.plan.first_chain = 5;
  request.keep = GetParam();
  if (request.keep == Keep::arrays) request.arrays = {states, {}, logp, {}};
  const SampleResult whole = sample(request);
  const All expected = whole.draws ? all_of(*whole.draws) : All{};

  request.checkpoint = (folder / "run.checkpoint").string();
  const SampleResult half = sample(request, [](const RunStatus& s) { return s.step < 200; });
  EXPECT_FALSE(half.complete);
  EXPECT_GT(half.draws_made, 0u);
  EXPECT_LT(half.draws_made, kDraws);

  std::fill(states.begin(), states.end(), Symbol{0});
  SampleRequest again = resumed_sample(request.checkpoint, lattice());
  EXPECT_EQ(again.keep, GetParam());
  again.arrays = request.arrays;
  EXPECT_EQ(again.plan.first_chain, 5u);
  again.plan.threads = 1;
  const SampleResult result = sample(again);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.mean, whole.mean);
  EXPECT_EQ(result.draws ? all_of(*result.draws) : All{}, expected);
}
INSTANTIATE_TEST_SUITE_P(EveryWay, Continued,
                         testing::Values(Keep::memory, Keep::arrays, Keep::disk, Keep::moments));

TEST(Sample, AModelFileIsReadAgainFromTheCheckpoint) {
  const TestFolder folder;
  SampleRequest request(load_model("bernoulli"));
  request.plan.draws = 50;
  request.checkpoint = (folder / "run.checkpoint").string();
  request.notes["colour"] = "green";
  const SampleResult first = sample(request);
  SampleRequest more = resumed_sample(request.checkpoint);
  EXPECT_EQ(more.notes["colour"], "green");
  more.plan.draws = 80;
  const SampleResult result = sample(more);
  EXPECT_EQ(result.draws_made, 80u);
  const All before = all_of(*first.draws), after = all_of(*result.draws);
  EXPECT_TRUE(std::equal(before.logp.begin(), before.logp.begin() + 50, after.logp.begin()));
}

TEST(Sample, ATargetOfOnesOwnNeedsItAgain) {
  const TestFolder folder;
  SampleRequest request = small_request();
  request.checkpoint = (folder / "run.checkpoint").string();
  sample(request);
  EXPECT_THROW(resumed_sample(request.checkpoint), UsageError);
  EXPECT_EQ(sample(resumed_sample(request.checkpoint, lattice())).draws_made, kDraws);
}

TEST(Sample, WarnsWhenTheChainsMissAMode) {
  // Eight spins, all pairs coupled with 0.5, field 0.05: the chains stay in one of two modes.
  std::vector<Coupling> couplings;
  for (int i = 0; i < 8; ++i) {
    for (int j = i + 1; j < 8; ++j) couplings.push_back({i, j, 0.5});
  }
  SampleRequest request(make_ising(8, couplings, std::vector<double>(8, 0.05)));
  request.plan.seed = 3;
  request.plan.draws = 2000;
  const RowBuffer<Symbol> start(4, 8);  // all chains in the lesser mode
  request.start = start.view();
  const SampleResult stuck = sample(request);
  ASSERT_TRUE(stuck.exact);
  ASSERT_FALSE(stuck.warnings.empty());
  EXPECT_EQ(stuck.warnings[0].code, "exact");
  EXPECT_EQ(verdict_of(stuck.warnings), "wrong");
  request = small_request();
  request.plan.draws = 10000;
  EXPECT_TRUE(sample(request).warnings.empty());
}

// dula is tuned as dmala: what its draws are called must not depend on that.
TEST(Sample, DrawsAreNamedAfterTheSamplerThatWasChosen) {
  SampleRequest request(lattice());
  request.sampler = "dula";
  request.plan.draws = 50;
  const SampleResult result = sample(request);
  EXPECT_EQ(result.sampler, "dula");
  EXPECT_FALSE(result.exact_sampler);
  EXPECT_EQ(result.draws->info().sampler, "dula");
  EXPECT_FALSE(result.draws->info().exact);
}

TEST(Sample, AutoNamesTheWinner) {
  SampleRequest request = small_request();
  request.sampler = "auto";
  const SampleResult result = sample(request);
  ASSERT_TRUE(result.choice);
  EXPECT_EQ(result.sampler, result.choice->winner.sampler);
  EXPECT_TRUE(result.exact_sampler);
  request.settings["no_such"] = "0.2";
  EXPECT_THROW(sample(request), UsageError);
}

TEST(Sample, StopsInTime) {
  SampleRequest request = small_request();
  request.keep = Keep::moments;
  request.plan.draws = std::uint64_t{1} << 40;
  request.plan.round_seconds = 0.01;
  request.time_limit = 0.1;
  const SampleResult result = sample(request);
  EXPECT_FALSE(result.complete);
  EXPECT_LT(result.statistics.seconds, 30);
}

}  // namespace
}  // namespace saltus
