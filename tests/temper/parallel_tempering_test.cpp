#include "saltus/temper/parallel_tempering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <tuple>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/run/draw_arrays.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/function.hpp"
#include "shared_parts.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

using Numbers = std::vector<double>;

RunPlan scans(std::uint64_t warmup, std::uint64_t draws, int ensembles = 4) {
  RunPlan plan;
  plan.chains = ensembles;
  plan.warmup = warmup;
  plan.draws = draws;
  plan.seed = 3;
  return plan;
}

TemperingPlan ladder(Numbers betas) {
  TemperingPlan plan;
  plan.betas = std::move(betas);
  return plan;
}

// A run with its draws.
struct Tempering {
  std::shared_ptr<const Target> model;
  DrawArrays draws;
  ParallelTempering run;

  Tempering(std::shared_ptr<const Target> target, const std::string& sampler,
            const Settings& settings, const RunPlan& plan, const TemperingPlan& tempering)
      : model(std::move(target)),
        draws(info(*model), model->domain().dim(), plan.chains, plan.draws, {}),
        run(*model, std::make_shared<Independent>(Independent::uniform(model->domain())),
            make_sampler(sampler, *model, settings), plan, tempering) {
    run.add(draws);
  }

  static DrawsInfo info(const Target& target) {
    DrawsInfo info;
    info.levels = target.domain().max_levels();
    info.first_value = target.domain().first_value();
    info.spacing = target.domain().spacing();
    return info;
  }
};

TEST(ParallelTempering, FindsBothModesAndItsOwnNumbers) {
  Tempering t(ferro8(), "dmala", {{"step_size", "0.5"}}, scans(400, 20000),
              ladder({0, .25, .5, .75, 1}));
  ASSERT_TRUE(t.run.go());
  const TemperingReport r = t.run.report();
  const Numbers exact = {.4707961309, .6683723643, .2517859055, .0783886780},
                tolerance = {.012, .011, .011, .006};
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_NEAR(r.rejection[k], exact[k], tolerance[k]) << k;
  }
  EXPECT_NEAR(r.log_z, 14.7783, .05);
  EXPECT_GT(r.log_z_error, 0);
  EXPECT_GT(r.round_trip_rate, .048);
  EXPECT_LT(r.round_trip_rate, .060);
  EXPECT_NEAR(r.rate_if_independent, .1155632993, .004);
  EXPECT_GE(r.restarts, r.round_trips);
  for (const CoordinateSummary& s : summarise(t.draws, false, 1)) {
    EXPECT_NEAR(s.mean, .3787658692, .09);
    EXPECT_LT(s.rhat, 1.05);
  }
  // Acceptance and correlation of exploring, by exact sums; 80,000 scans.
  const Numbers acceptance = {.83268681, .74782618, .84117240, .92265692},
                correlation = {.75898295, .74178282, .51945996, .46659196};
  for (std::size_t k = 0; k < acceptance.size(); ++k) {
    EXPECT_NEAR(r.acceptance[k + 1], acceptance[k], .01) << k;
    EXPECT_NEAR(r.correlation[k + 1], correlation[k], .05) << k;
  }
  EXPECT_TRUE(std::isnan(r.acceptance[0]));
  EXPECT_NEAR(t.run.statistics().gradient_evaluations, 4.5, 1e-3);  // N steps + 1/2
}

// More steps in a scan make slots more independent; .1156 round trips are then what rejections
// allow. Another program counted .0945 to .0952 with 4 steps and .1131 with 16.
TEST(ParallelTempering, MoreStepsMakeMoreRoundTrips) {
  for (const auto& [steps, low, high] : {std::tuple{4, .0945, .0952}, {16, .1131, .1131}}) {
    TemperingPlan plan = ladder({0, .25, .5, .75, 1});
    plan.steps = steps;
    Tempering t(ferro8(), "dmala", {{"step_size", "0.5"}}, scans(400, 20000), plan);
    ASSERT_TRUE(t.run.go());
    // About 8000 trips: 4 standard deviations if they came at random, which they hardly exceed.
    EXPECT_GT(t.run.report().round_trip_rate, low * (1 - 4 / std::sqrt(8000.0)));
    EXPECT_LT(t.run.report().round_trip_rate, high * (1 + 4 / std::sqrt(8000.0)));
  }
}

// Standard deviations over single ensembles of 4000 scans, as another program has them: one of 64
// runs has an error of 9 %.
TEST(ParallelTempering, SpreadOfShortRuns) {
  constexpr int kRuns = 64;
  std::vector<Numbers> seen(7);
  for (int k = 0; k < kRuns; ++k) {
    RunPlan plan = scans(400, 4000, 1);
    plan.seed = 100 + static_cast<std::uint64_t>(k);
    Tempering t(ferro8(), "dmala", {{"step_size", "0.5"}}, plan, ladder({0, .25, .5, .75, 1}));
    ASSERT_TRUE(t.run.go());
    const TemperingReport r = t.run.report();
    const double values[] = {r.rejection[0],
                             r.rejection[1],
                             r.rejection[2],
                             r.rejection[3],
                             r.log_z_forward,
                             r.log_z_backward,
                             summarise(t.draws, false, 1)[0].mean};
    for (std::size_t q = 0; q < seen.size(); ++q) seen[q].push_back(values[q]);
  }
  const Numbers expected = {.012, .011, .011, .006, .079, .10, .09};
  for (std::size_t q = 0; q < seen.size(); ++q) {
    const double mean = std::accumulate(seen[q].begin(), seen[q].end(), 0.0) / kRuns;
    double squares = 0;
    for (const double v : seen[q]) squares += (v - mean) * (v - mean);
    const double sd = std::sqrt(squares / (kRuns - 1));
    EXPECT_NEAR(sd, expected[q], 4 * .09 * expected[q] + .0005) << q;
  }
}

TEST(ParallelTempering, AdaptsLadderLengthAndStepSizes) {
  Tempering t(ferro8(), "dmala", {}, scans(1000, 20000), {});
  ASSERT_TRUE(t.run.go());
  const TemperingReport r = t.run.report();
  EXPECT_GE(r.betas.size(), 3u);
  EXPECT_LE(r.betas.size(), 6u);
  EXPECT_EQ(r.betas.front(), 0);
  EXPECT_EQ(r.betas.back(), 1);
  const auto [least, most] = std::ranges::minmax(r.rejection);
  EXPECT_LT(most - least, .15);
  EXPECT_NEAR(r.log_z, 14.7783, .08);
  for (const CoordinateSummary& s : summarise(t.draws, false, 1)) {
    EXPECT_NEAR(s.mean, .3787658692, 6 * s.mcse);
    EXPECT_LT(s.rhat, 1.05);
  }
}

TEST(ParallelTempering, AnyExactSamplerServes) {
  const auto models = {glass10(), potts5()};
  for (const auto& model : models) {
    const StateTable table(*model);
    const Numbers exact = table.means(table.probability());
    for (const auto& [sampler, settings] :
         {std::pair<std::string, Settings>{"gibbs", {{"updates", "sweep"}}},
          {"gwg", {}},
          {"pas", {}},
          {"rwm", {}},
          {"dlmc", {}},
          {"locally_balanced", {}}}) {
      Tempering t(model, sampler, settings, scans(500, 10000), {});
      ASSERT_TRUE(t.run.go());
      const TemperingReport r = t.run.report();
      EXPECT_NEAR(r.log_z, table.log_z(), std::max(.05, 6 * r.log_z_error)) << sampler;
      EXPECT_GT(r.round_trips, 50u) << sampler;
      const auto summaries = summarise(t.draws, false, 1);
      for (std::size_t i = 0; i < exact.size(); ++i) {
        EXPECT_NEAR(summaries[i].mean, exact[i], 6 * summaries[i].mcse) << sampler << " " << i;
      }
    }
  }
}

struct Bits {
  std::vector<Symbol> states;
  Numbers logp, betas, rejection;
  std::uint64_t round_trips, restarts;
  double log_z, log_z_error, correlation;
  bool operator==(const Bits&) const = default;
};

Bits bits_of(const Tempering& t) {
  const TemperingReport r = t.run.report();
  return {{t.draws.states().begin(), t.draws.states().end()},
          {t.draws.logp().begin(), t.draws.logp().end()},
          r.betas,
          r.rejection,
          r.round_trips,
          r.restarts,
          r.log_z,
          r.log_z_error,
          r.correlation.back()};
}

TEST(ParallelTempering, ThreadsNeverChangeABit) {
  for (const std::string sampler : {"dmala", "gwg"}) {
    std::vector<Bits> found;
    for (const int threads : {1, 2, 5}) {
      RunPlan plan = scans(100, 200, 6);
      plan.threads = threads;
      plan.tile = 2;
      Tempering t(glass10(), sampler, {}, plan, {});
      ASSERT_TRUE(t.run.go());
      found.push_back(bits_of(t));
    }
    EXPECT_EQ(found[0], found[1]) << sampler;
    EXPECT_EQ(found[0], found[2]) << sampler;
  }
}

TEST(ParallelTempering, StoppedAndContinuedItMakesTheSameDraws) {
  for (const std::string sampler : {"dmala", "gwg", "gibbs"}) {
    const auto make = [&] {
      return std::make_unique<Tempering>(glass10(), sampler, Settings{}, scans(120, 300),
                                         TemperingPlan{});
    };
    const auto whole = make();
    ASSERT_TRUE(whole->run.go());
    for (const std::uint64_t stop : {7u, 60u, 150u}) {  // in warm-up, twice, and in the draws
      const auto first = make();
      ASSERT_FALSE(first->run.go([&](const RunStatus& s) { return s.step < stop; }));
      ByteWriter out;
      first->run.save(out);
      const auto second = make();
      const std::vector<std::byte> saved(out.bytes().begin(), out.bytes().end());
      ByteReader in(saved);
      second->run.restore(in);
      ASSERT_TRUE(second->run.go());
      EXPECT_EQ(bits_of(*second), bits_of(*whole)) << sampler << " " << stop;
      EXPECT_EQ(second->run.report().paths, whole->run.report().paths);
    }
  }
}

TEST(ParallelTempering, EnsemblesDoNotDependOnTheirNumber) {
  const Numbers betas = {0, .2, .5, 1};
  Tempering two(glass10(), "dmala", {{"step_size", "0.8"}}, scans(50, 100, 2), ladder(betas));
  Tempering four(glass10(), "dmala", {{"step_size", "0.8"}}, scans(50, 100, 4), ladder(betas));
  two.run.go();
  four.run.go();
  const std::size_t half = two.draws.states().size();
  const auto states = four.draws.states();
  EXPECT_TRUE(std::ranges::equal(two.draws.states(), states.first(half)));
}

TEST(ParallelTempering, PartsNeverChangeABit) {
  const auto model = glass10();
  RunPlan plan = scans(150, 200, 6);
  plan.tile = 2;
  Tempering whole(model, "dmala", {}, plan, {});
  ASSERT_TRUE(whole.run.go());
  const Bits expected = bits_of(whole);
  const auto ranges = chain_ranges(*model, 6, 2, 3);
  SharedParts shared(3);
  std::vector<Bits> found(3);
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < 3; ++p) {
    threads.emplace_back([&, p] {
      SharedParts::Part part(shared, p);
      RunPlan of_part = plan;
      of_part.chains = ranges[p].chains;
      of_part.first_chain = ranges[p].first_chain;
      of_part.reduction = &part;
      of_part.threads = 1;
      Tempering t(model, "dmala", {}, of_part, {});
      EXPECT_TRUE(t.run.go());
      found[p] = bits_of(t);
    });
  }
  threads.clear();
  Bits joined = found[0];  // reports are of all parts, draws of each
  for (std::size_t p = 1; p < 3; ++p) {
    joined.states.insert(joined.states.end(), found[p].states.begin(), found[p].states.end());
    joined.logp.insert(joined.logp.end(), found[p].logp.begin(), found[p].logp.end());
  }
  EXPECT_EQ(joined, expected);
  EXPECT_EQ(found[2].log_z_error, expected.log_z_error);
}

// With step sizes of its own in every slot. Rejections follow from the ladder alone, because the
// slots are independent in stationarity; round trips depend on the steps. 4 ensembles of 20,000
// scans against one of 4000 of another program with these standard deviations.
TEST(ParallelTempering, RejectionsAndRoundTripsOfAGlass) {
  const auto model = glass10();
  TemperingPlan plan = ladder({0, .1424, .3149, .5566, 1});
  for (const char* step_size : {"0.8", "0.7", "0.9", "1.5"})
    plan.samplers.push_back(make_sampler("dmala", *model, {{"step_size", step_size}}));
  Tempering t(model, "dmala", {}, scans(400, 20000), plan);
  ASSERT_TRUE(t.run.go());
  const TemperingReport r = t.run.report();
  for (const double rejection : r.rejection) EXPECT_NEAR(rejection, .4793, .012);
  EXPECT_NEAR(r.round_trip_rate, .0591, .006);
  EXPECT_NEAR(r.rate_if_independent, .1068, .004);
  EXPECT_EQ(Numbers(r.step_size.begin() + 1, r.step_size.end()), (Numbers{.8, .7, .9, 1.5}));
}

TEST(ParallelTempering, SamplersOfSlotsGoWithALadder) {
  const auto model = glass10();
  TemperingPlan plan;
  plan.samplers.assign(2, make_sampler("dmala", *model, {{"step_size", "0.5"}}));
  EXPECT_THROW(Tempering(model, "dmala", {}, scans(10, 10), plan), UsageError);
  plan.betas = {0, .2, .5, 1};
  EXPECT_THROW(Tempering(model, "dmala", {}, scans(10, 10), plan), UsageError);
  plan.samplers.push_back(make_sampler("dula", *model, {{"step_size", "0.5"}}));
  EXPECT_THROW(Tempering(model, "dmala", {}, scans(10, 10), plan), UsageError);
}

TEST(ParallelTempering, PathsOfReplicasGoByOneSlotAScan) {
  Tempering t(glass10(), "dmala", {}, scans(100, 500), {});
  ASSERT_TRUE(t.run.go());
  const auto paths = t.run.report().paths;
  ASSERT_EQ(paths.size(), 300u);
  int moves = 0;
  for (std::size_t s = 0; s < paths.size(); ++s) {
    auto slots = paths[s];
    std::ranges::sort(slots);
    for (std::size_t k = 0; k < slots.size(); ++k) EXPECT_EQ(slots[k], k);
    for (std::size_t r = 0; s > 0 && r < slots.size(); ++r) {
      const int move = paths[s][r] - paths[s - 1][r];
      EXPECT_LE(std::abs(move), 1);
      moves += std::abs(move);
    }
  }
  EXPECT_GT(moves, 100);
}

// log p is a constant, and so is V.
TEST(ParallelTempering, WithoutABarrierTwoSlotsAreEnough) {
  const auto flat = std::make_shared<Function>(
      Domain::binary(4), [](std::span<const double>, std::span<double> gradient) {
        std::fill(gradient.begin(), gradient.end(), 0);
        return 1.0;
      });
  Tempering t(flat, "dmala", {}, scans(200, 100), {});
  ASSERT_TRUE(t.run.go());
  const TemperingReport r = t.run.report();
  EXPECT_EQ(r.betas, (Numbers{0, 1}));
  EXPECT_NEAR(r.barrier, 0, 1e-12);
  EXPECT_EQ(r.recommended_replicas, 1);
  EXPECT_NEAR(r.log_z, 1 + std::log(16), 1e-12);
  EXPECT_NEAR(r.round_trip_rate, .5, .02);
  EXPECT_TRUE(std::isnan(r.correlation[1]));
}

TEST(ParallelTempering, BaseAndModelAlone) {
  TemperingPlan two;
  two.replicas = 2;
  Tempering t(rbm3(), "dmala", {}, scans(200, 20000), two);
  ASSERT_TRUE(t.run.go());
  const TemperingReport r = t.run.report();
  EXPECT_EQ(r.betas, (Numbers{0, 1}));
  EXPECT_NEAR(r.round_trip_rate, r.rate_if_independent, .02);
  EXPECT_NEAR(r.log_z, 3.9800464566, .02);
}

// log p differs by thousands between states: no swap succeeds at first.
TEST(ParallelTempering, DifferencesOfThousands) {
  const auto steep = std::make_shared<Function>(
      Domain::binary(6), [](std::span<const double> v, std::span<double> gradient) {
        const double sum = std::accumulate(v.begin(), v.end(), 0.0) - 3;
        std::fill(gradient.begin(), gradient.end(), 2000 * sum);
        return 1000 * sum * sum;
      });
  TemperingPlan few;
  few.replicas = 3;
  const auto run = [&](std::uint64_t warmup) {
    Tempering t(steep, "dmala", {}, scans(warmup, 10000), few);
    EXPECT_TRUE(t.run.go());
    return t.run.report();
  };
  const TemperingReport fresh = run(0), adapted = run(4000);
  EXPECT_NEAR(adapted.log_z, 9000 + std::log(2), .1);
  EXPECT_GT(adapted.round_trips, 1000u);
  EXPECT_LT(std::ranges::max(adapted.rejection), .8);
  EXPECT_GT(std::ranges::max(fresh.rejection), .95);
}

// Neighbours on a ring are not both 1; most states of the base are forbidden.
TEST(ParallelTempering, TheBaseMayGiveStatesThatTheModelForbids) {
  const auto ring = std::make_shared<Function>(
      Domain::binary(10), [](std::span<const double> v, std::span<double> gradient) {
        bool forbidden = false;
        double sum = 0;
        for (std::size_t i = 0; i < v.size(); ++i) {
          forbidden |= v[i] == 1 && v[(i + 1) % v.size()] == 1;
          sum += v[i];
        }
        std::fill(gradient.begin(), gradient.end(), 1);
        return forbidden ? -INFINITY : sum;
      });
  const StateTable table(*ring);
  const double exact = table.means(table.probability())[0];
  for (const std::string sampler : {"gibbs", "rwm"}) {
    const auto make = [&] {
      return std::make_unique<Tempering>(ring, sampler, Settings{}, scans(300, 5000),
                                         TemperingPlan{});
    };
    const auto whole = make();
    ASSERT_TRUE(whole->run.go());
    const TemperingReport r = whole->run.report();
    EXPECT_GT(r.rejection[0], .5);  // however close to 0 the first beta is
    EXPECT_GT(r.round_trips, 50u);
    EXPECT_NEAR(r.log_z, table.log_z(), std::max(.05, 6 * r.log_z_error));
    for (const CoordinateSummary& s : summarise(whole->draws, false, 1)) {
      EXPECT_NEAR(s.mean, exact, 6 * s.mcse);
    }
    const auto first = make(), second = make();
    first->run.go([](const RunStatus& s) { return s.step < 400; });
    ByteWriter out;
    first->run.save(out);
    const std::vector<std::byte> saved(out.bytes().begin(), out.bytes().end());
    ByteReader in(saved);
    second->run.restore(in);
    ASSERT_TRUE(second->run.go());
    EXPECT_EQ(bits_of(*second), bits_of(*whole)) << sampler;
  }
}

TEST(ParallelTempering, RefusesSamplersThatAreNotExact) {
  for (const std::string sampler : {"dula", "rmala"}) {
    EXPECT_THROW(Tempering(ferro8(), sampler, {}, scans(10, 10), {}), UsageError) << sampler;
  }
  EXPECT_THROW(Tempering(ferro8(), "dmala", {}, scans(10, 10), ladder({0, .5})), UsageError);
  TemperingPlan one;
  one.replicas = 1;
  EXPECT_THROW(Tempering(ferro8(), "dmala", {}, scans(10, 10), one), UsageError);
}

}  // namespace
}  // namespace saltus
