// Gibbs sampling: the order of updates, known laws, resumed runs, counted evaluations, refusals.
#include "saltus/sampler/gibbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "saltus/core/bytes.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/tempered.hpp"
#include "sampler/gibbs/scan.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

// Where chi-square with `degrees` degrees of freedom has a tail of about 1e-6 or less.
double chi_square_limit(double degrees) {
  return degrees + 5 * std::sqrt(2 * degrees) + 15;
}

TEST(Scan, EveryOrderOfAPassIsEquallyLikely) {
  const Scan scan(Scan::Kind::permutation, 4, 1);
  Scratch own;
  std::map<std::vector<std::int32_t>, int> counts;
  const int passes = 24000;
  for (int pass = 0; pass < passes; ++pass) {
    const auto order = scan.order(1, static_cast<std::uint64_t>(pass), own);
    ++counts[{order.begin(), order.end()}];
  }
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, count] : counts)
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi_square, chi_square_limit(23));
}

TEST(Scan, APassVisitsEveryCoordinateOnce) {
  for (Scan::Kind kind : {Scan::Kind::permutation, Scan::Kind::systematic}) {
    const Scan scan(kind, 25, 10);
    ASSERT_EQ(scan.blocks(), 3);
    Scratch own;
    for (std::uint64_t pass = 0; pass < 5; ++pass) {
      std::vector<std::int32_t> seen;
      for (std::uint64_t b = 0; b < 3; ++b) {
        const auto block = scan.block(1, 3 * pass + b, own);
        EXPECT_EQ(block.size(), b < 2 ? 10u : 5u);
        seen.insert(seen.end(), block.begin(), block.end());
      }
      const bool in_order = std::is_sorted(seen.begin(), seen.end());
      EXPECT_EQ(in_order, kind == Scan::Kind::systematic);
      EXPECT_EQ(std::set<std::int32_t>(seen.begin(), seen.end()).size(), 25u);
    }
  }
}

// What other seeds, passes, models and samplers leave in the memory does not matter.
TEST(Scan, DoesNotMistakeLeftOverMemory) {
  const auto fresh = [](Scan::Kind kind, int dim, std::uint64_t seed, std::uint64_t pass) {
    Scratch own;
    const auto order = Scan(kind, dim, 1).order(seed, pass, own);
    return std::vector<std::int32_t>(order.begin(), order.end());
  };
  Scratch own;
  for (int round = 0; round < 3; ++round) {
    for (Scan::Kind kind : {Scan::Kind::permutation, Scan::Kind::systematic}) {
      for (int dim : {7, 8, 100}) {
        for (std::uint64_t seed : {1u, 2u}) {
          for (std::uint64_t pass : {0u, 1u}) {
            const auto order = Scan(kind, dim, 1).order(seed, pass, own);
            EXPECT_EQ(std::vector<std::int32_t>(order.begin(), order.end()),
                      fresh(kind, dim, seed, pass));
          }
        }
      }
    }
    std::fill_n(own.get<float>(6, 64), 64, 0.5f * static_cast<float>(round));
  }
}

TEST(Scan, RandomBlocksAreDistinctAndUniform) {
  const Scan scan(Scan::Kind::random, 6, 3);
  std::map<std::set<std::int32_t>, int> counts;
  const Stream stream(1, 2, 3, Purpose::scan);
  for (std::uint32_t k = 0; k < 20000; ++k) {
    std::int32_t block[3];
    scan.draw(stream, 3 * k, block);
    ++counts[{block, block + 3}];
  }
  ASSERT_EQ(counts.size(), 20u);  // all subsets, none smaller
  double chi_square = 0;
  for (const auto& [set, count] : counts) {
    EXPECT_EQ(set.size(), 3u);
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  }
  EXPECT_LT(chi_square, chi_square_limit(19));
}

// Keeps the last logp of every chain, and what steps changed.
struct Watch final : StepObserver {
  std::map<std::uint32_t, double> logp;
  std::uint64_t proposed = 0, changed = 0;
  bool want = true;
  bool wants_logp(std::uint64_t) const override { return want; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      logp[tile.first_slot + static_cast<std::uint32_t>(r)] = tile.logp[r];
      proposed += info[static_cast<std::size_t>(r)].proposed;
      changed += info[static_cast<std::size_t>(r)].changed;
    }
  }
};

std::vector<Symbol> states_of(const Ensemble& ensemble, int dim) {
  std::vector<Symbol> all;
  for (int chain = 0; chain < ensemble.chains(); ++chain) {
    all.insert(all.end(), ensemble.state(chain), ensemble.state(chain) + dim);
  }
  return all;
}

// The colours that a target knows itself: chessboards that close, open ones, a chain of spins.
TEST(Gibbs, ColoursOfLatticesAreExact) {
  struct Shape {
    int rows, cols;
    bool periodic;
  };
  for (const Shape s : {Shape{2, 4, true}, {3, 3, false}, {1, 6, true}, {4, 2, false}}) {
    const IsingLattice target(s.rows, s.cols, s.periodic, 0.2, 0.15);
    ASSERT_EQ(target.groups(), 2);
    const StateTable table(target);
    const auto gibbs = make_sampler("gibbs", target, {{"scan", "colours"}});
    const Conformance c = check_transitions(*gibbs, table);
    EXPECT_LT(c.invariance, 1e-13);
    const StepCheck steps = check_steps(*gibbs, target, table, 2000);
    EXPECT_GT(steps.p_value, 1e-5) << s.rows << "x" << s.cols;
    EXPECT_FALSE(steps.impossible);
  }
  EXPECT_EQ(IsingLattice(3, 4, true, 0.1, 0.2).groups(), 0);
}

// Independent chains, long after their start, on the paper's model: mean spin .48296984...
// The model's own sweeps, and those that follow from its differences at other temperatures; edges
// of the same weight are counted.
TEST(Gibbs, SweepsOfGraphsAreExact) {
  for (const double weight : {1.0, 0.5}) {
    const GraphTarget graph({3,
                             3,
                             {{0, 1, 1}, {2, 1, weight}},
                             {0.1, -0.2, 0.4, -0.2, 0.9, 0, 0.4, 0, -0.3},
                             {0.2, 1.1, 0},
                             {0.1, -0.4, -0.2},
                             0.5,
                             0.3});
    Tempered path(graph, Independent::uniform(graph));
    path.set_beta(0.4);
    for (const Target* target : std::initializer_list<const Target*>{&graph, &path}) {
      ASSERT_TRUE(target->gibbs_sweeps());
      const StateTable table(*target);
      const auto gibbs =
          make_sampler("gibbs", *target, {{"scan", "systematic"}, {"updates", "sweep"}});
      EXPECT_FALSE(gibbs->needs(*target).logp);
      EXPECT_LT(check_transitions(*gibbs, table).invariance, 1e-12);
      const StepCheck steps = check_steps(*gibbs, *target, table, 4000);
      EXPECT_GT(steps.p_value, 1e-5)
          << "chi-square " << steps.chi_square << " on " << steps.degrees;
    }
  }
}

TEST(Gibbs, MeanOfThePapersModel) {
  const IsingLattice target(5, 5, true, 0.1, 0.2);
  for (const char* scan : {"colours", "permutation", "systematic", "random"}) {
    const auto gibbs = make_sampler("gibbs", target, {{"scan", scan}, {"updates", "sweep"}});
    const int chains = 4000;
    Ensemble ensemble(target, chains, 16, 1, 3);
    ensemble.start_random();
    ensemble.evaluate();
    Watch watch;
    watch.want = false;
    ensemble.advance(*gibbs, 40, watch);
    double sum = 0, squares = 0;
    for (int chain = 0; chain < chains; ++chain) {
      double mean = 0;
      for (int i = 0; i < 25; ++i) mean += (2 * ensemble.state(chain)[i] - 1) / 25.0;
      sum += mean;
      squares += mean * mean;
    }
    const double mean = sum / chains;
    const double error = std::sqrt((squares / chains - mean * mean) / chains);
    EXPECT_NEAR(mean, .48296984223599815, 4 * error) << scan;
    EXPECT_LT(error, 0.01);
  }
}

// A dense model of 40 bits with a diagonal.
TEST(Gibbs, SweepsHaveTheLawOfSingleUpdates) {
  const int n = 40, chains = 3000;
  std::vector<Coupling> couplings;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) couplings.push_back({i, j, 0.25 * std::sin(7.0 * i + 3.0 * j)});
  }
  std::vector<double> field(40, 0.1);
  const Quadratic target("bits", Domain::binary(n), couplings, field);
  ASSERT_TRUE(target.dense());
  const auto means = [&](const Settings& settings, std::uint64_t steps, std::uint64_t seed,
                         int tile) {
    const auto gibbs = make_sampler("gibbs", target, settings);
    Ensemble ensemble(target, chains, tile, 1, seed);
    ensemble.start_random();
    ensemble.evaluate();
    Watch watch;
    watch.want = false;
    ensemble.advance(*gibbs, steps, watch);
    std::vector<double> mean(40);
    for (int chain = 0; chain < chains; ++chain) {
      for (std::size_t i = 0; i < 40; ++i) mean[i] += ensemble.state(chain)[i] / double{chains};
    }
    return mean;
  };
  const auto single = means({}, 30 * 40, 2, 0);
  for (int tile : {64, 2}) {  // sixteen chains side by side, and few
    const auto sweeps = means({{"updates", "sweep"}}, 30, 1, tile);
    for (std::size_t i = 0; i < 40; ++i) {
      const double p = (sweeps[i] + single[i]) / 2;
      EXPECT_NEAR(sweeps[i], single[i], 4.5 * std::sqrt(2 * p * (1 - p) / chains)) << i;
    }
  }
}

const std::vector<Settings> kSettings = {
    {},
    {{"block", "2"}},
    {{"block", "3"}, {"scan", "random"}, {"updates", "2"}},
    {{"updates", "sweep"}},
    {{"updates", "5"}},
    {{"scan", "systematic"}, {"updates", "2"}},
};

TEST(Gibbs, ResumesWithTheSameBits) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    if (target->domain().unbounded()) continue;
    const int dim = target->domain().dim();
    for (const Settings& settings : kSettings) {
      const auto gibbs = make_sampler("gibbs", *target, settings);
      const auto start = [&](Ensemble& e) {
        e.start_random();
        e.evaluate();
      };
      Ensemble whole(*target, 5, 2, 1, 7), part(*target, 5, 2, 1, 7), rest(*target, 5, 2, 1, 7);
      Watch watch, watch_rest;
      start(whole);
      whole.advance(*gibbs, 600, watch);
      start(part);
      part.advance(*gibbs, 299, watch_rest);
      ByteWriter out;
      part.save(out);
      ByteReader in(out.bytes());
      rest.restore(in);
      rest.advance(*gibbs, 301, watch_rest);
      EXPECT_EQ(states_of(whole, dim), states_of(rest, dim)) << small.name;
      EXPECT_EQ(watch.logp, watch_rest.logp) << small.name;
    }
  }
}

TEST(Gibbs, LogpStaysUpToDate) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    if (target->domain().unbounded()) continue;
    for (const Settings& settings : kSettings) {
      Ensemble ensemble(*target, 3, 2, 1, 7);
      ensemble.start_random();
      ensemble.evaluate();
      Watch watch;
      ensemble.advance(*make_sampler("gibbs", *target, settings), 200, watch);
      for (int chain = 0; chain < 3; ++chain) {
        EXPECT_NEAR(watch.logp.at(static_cast<std::uint32_t>(chain)),
                    logp_of(*target, ensemble.state(chain)), 2e-5)
            << small.name;
      }
      EXPECT_GT(watch.changed, 0u);
      EXPECT_GE(watch.proposed, watch.changed);
    }
  }
}

TEST(Gibbs, CountsItsEvaluations) {
  const auto counted = [](const Target& target, const Settings& settings) {
    Ensemble ensemble(target, 4, 2, 1, 1);
    ensemble.start_random();
    ensemble.evaluate();
    Watch watch;
    ensemble.advance(*make_sampler("gibbs", target, settings), 10, watch);
    return ensemble.evaluations();
  };
  const auto targets = small_targets();
  const auto curved = targets[4].make(), ising = targets[1].make();
  ASSERT_EQ(targets[4].name, "curved");
  // Two coordinates of two levels: 4 states. By differences, 3 of these, one call each.
  EXPECT_EQ(counted(*curved, {{"block", "2"}, {"scan", "random"}}).logp, 4u * 10 * 4);
  const Evaluations local = counted(*ising, {{"block", "2"}, {"updates", "1"}});
  EXPECT_EQ(local.local, 4u * 10 * 3);
  EXPECT_EQ(local.logp, 0u);
  EXPECT_EQ(local.gradient, 0u);
}

// A model with forbidden states is never in one of them, and one that is not a number stays.
TEST(Gibbs, StatesOutsideTheModel) {
  const Function forbidden(Domain::binary(3), [](std::span<const double> v, std::span<double>) {
    return v[0] + v[1] + v[2] == 3 ? -INFINITY : v[0];
  });
  const auto gibbs = make_sampler("gibbs", forbidden, {{"block", "2"}});
  const StepCheck steps = check_steps(*gibbs, forbidden, StateTable(forbidden), 20000);
  EXPECT_GT(steps.p_value, 1e-5);
  EXPECT_FALSE(steps.impossible);
  const Function broken(Domain::binary(2), [](std::span<const double> v, std::span<double>) {
    return v[0] == 1 ? NAN : 0.0;
  });
  Ensemble ensemble(broken, 1, 1, 1, 1);
  RowBuffer<Symbol> zero(1, 2);
  ensemble.start_from(zero.view(), 0);
  ensemble.evaluate();
  Watch watch;
  ensemble.advance(*make_sampler("gibbs", broken, {{"scan", "systematic"}}), 1, watch);
  EXPECT_EQ(ensemble.state(0)[0], 0);
  EXPECT_EQ(watch.logp[0], 0.0);
}

std::string refusal(const Target& target, const Settings& settings) {
  try {
    make_sampler("gibbs", target, settings);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Gibbs, RefusesInWords) {
  const Bernoulli bits(std::vector<double>(30, 0.5));
  EXPECT_NE(refusal(bits, {{"block", "21"}}).find("1048576 combinations"), std::string::npos);
  EXPECT_EQ(refusal(bits, {{"block", "20"}}), "");
  EXPECT_NE(refusal(Poisson({1.0}), {}).find("finitely many levels"), std::string::npos);
  const Function plain(Domain::binary(3), curved_logp, "curved");
  EXPECT_NE(refusal(plain, {{"scan", "colours"}}).find("local moves, from which the groups follow"),
            std::string::npos);
  EXPECT_NE(refusal(bits, {{"scan", "colours"}, {"block", "2"}}), "");
  EXPECT_NE(refusal(bits, {{"scan", "colours"}, {"updates", "2"}}), "");
  EXPECT_NE(refusal(bits, {{"updates", "all"}}), "");
}

}  // namespace
}  // namespace saltus
