#include "saltus/target/factors.hpp"

#include <gtest/gtest.h>

#include "factor_models.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {
namespace {

using Literals = std::vector<FactorsModel::Literal>;

std::vector<Symbol> state_of(const StateTable& table, std::size_t s) {
  return {table.state(s), table.state(s) + table.domain().dim()};
}

// Numbers of an independent enumeration in double precision.
TEST(Factors, MixedFactorsHaveTheirKnownAnswers) {
  const Model model = parse_model(kMixedFactors, "mixed");
  const StateTable table(*model.target);
  EXPECT_NEAR(table.log_z(), 4.1674041954782295, 1e-12);
  EXPECT_EQ(model.target->domain().kind(), Domain::Kind::categorical);
  const auto logp = [&](std::vector<Symbol> x) { return table.logp(table.index(x.data())); };
  EXPECT_NEAR(logp({0, 0, 0, 0}), -0.38, 1e-12);
  EXPECT_NEAR(logp({0, 2, 0, 0}), 1.144, 1e-12);
  EXPECT_NEAR(logp({0, 2, 1, 1}), 3.24, 1e-12);
  EXPECT_EQ(logp({1, 2, 1, 1}), kMinusInfinity);
  double upper = 0;
  int forbidden = 0;
  for (std::size_t s = 0; s < table.size(); ++s) {
    upper += table.state(s)[3] * table.probability()[s];
    forbidden += table.logp(s) == kMinusInfinity;
  }
  EXPECT_NEAR(upper, 0.880009764229004, 1e-12);
  EXPECT_EQ(forbidden, 9);
}

TEST(Factors, EvaluatesByTheDefinition) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const FactorsModel model = random_factors(seed, 5, 9, seed % 3 == 0 ? 2 : 4, 0.15);
    const Factors target(model);
    EXPECT_EQ(target.domain().two_level(), seed % 3 == 0);
    const StateTable table(target);
    const Factors again(target.model());
    for (std::size_t s = 0; s < table.size(); ++s) {
      const double expected = logp_of(model, state_of(table, s));
      if (expected == kMinusInfinity) {
        EXPECT_EQ(table.logp(s), kMinusInfinity);
        EXPECT_EQ(logp_of(again, table.state(s)), kMinusInfinity);
      } else {
        EXPECT_NEAR(table.logp(s), expected, 1e-12);
        EXPECT_NEAR(logp_of(again, table.state(s)), expected, 1e-12);
      }
    }
  }
}

// At allowed states: the exact change, with the floor. Elsewhere finite.
TEST(Factors, ScoresAreExactDifferencesAboveTheFloor) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Factors target(random_factors(seed, 5, 9, seed % 2 ? 2 : 4, seed % 5 ? 0.15 : 0));
    const StateTable table(target);
    const Domain& domain = target.domain();
    for (std::size_t s = 0; s < table.size(); ++s) {
      for (int i = 0; i < domain.dim(); ++i) {
        std::vector<Symbol> y = state_of(table, s);
        for (int k = 0; k < domain.levels(i); ++k) {
          y[static_cast<std::size_t>(i)] = static_cast<Symbol>(k);
          const double* score = table.score(s) + domain.score_begin(i);
          const double says = domain.two_level() ? *score * (k - table.state(s)[i]) : score[k];
          ASSERT_TRUE(std::isfinite(says));
          if (table.logp(s) == kMinusInfinity) continue;
          double change = table.logp(table.index(y.data())) - table.logp(s);
          if (target.forbidden_states()) change = std::max(change, -target.floor());
          EXPECT_NEAR(says, change, 1e-11);
        }
      }
    }
  }
}

// Differences add up to those of log p along paths through forbidden states, and moves give the
// scores of an evaluation.
TEST(Factors, DifferencesAndScoresFollowAnyPath) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const FactorsModel model = random_factors(seed, 6, 11, seed % 2 ? 2 : 4, 0.2);
    const Factors target(model);
    const Domain& domain = target.domain();
    const RowBuffer<Symbol> x(1, domain.dim());
    const RowBuffer<float> score(1, domain.score_size()), fresh(1, domain.score_size());
    Scratch scratch;
    const Stream stream(seed, 0, 0, Purpose::check);
    ASSERT_TRUE(target.make_allowed(stream, x.view()[0]));
    double start = 0, end = 0, sum = 0;
    target.evaluate({0, 0, scratch}, x.view(), &start, score.view());
    int allowed = 0;
    for (std::uint32_t t = 0; t < 400; ++t) {
      const int i = static_cast<int>(stream.uniform(2 * t) * domain.dim());
      const int to = static_cast<int>(stream.uniform(2 * t + 1) * domain.levels(i));
      double d = 0;
      const LocalRow row{x.view()[0], score.view()[0], nullptr};
      target.differences(row, i, to, 1, &d);
      sum += d;
      target.move(row, i, static_cast<Symbol>(to));
      target.evaluate({0, 0, scratch}, x.view(), &end, fresh.view());
      if (end == kMinusInfinity) {
        EXPECT_LT(sum, -target.penalty() / 2);
      } else {
        EXPECT_NEAR(sum, end - start, 1e-7);
        ++allowed;
      }
      for (int k = 0; k < domain.score_size(); ++k) {
        ASSERT_NEAR(score.view()[0][k], fresh.view()[0][k], 1e-5);
      }
      std::vector<std::int32_t> room(static_cast<std::size_t>(target.max_neighbours()));
      const auto list = target.neighbours(i, room.data());
      EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
      EXPECT_EQ(std::find(list.begin(), list.end(), i), list.end());
    }
    EXPECT_GT(allowed, 0);
  }
}

TEST(Factors, ClausesAreTidied) {
  FactorsModel m;
  m.levels = {2, 3};
  m.add_clause(Literals{}, 0.5);                              // never holds
  m.add_clause(Literals{{0, 0}, {0, 1}}, -kMinusInfinity);    // always holds
  m.add_clause(Literals{{1, 0}, {1, 2}, {1, 0}, {1, 1}}, 2);  // always holds
  m.add_clause(Literals{{1, 2}, {0, 1}, {1, 2}}, 1.25);       // a literal twice
  m.add_clause(Literals{{1, 2}}, 0);
  const Factors target(m);
  EXPECT_EQ(target.forbidden_states(), nullptr);
  EXPECT_EQ(target.model().clauses(), 1u);
  const StateTable table(target);
  for (std::size_t s = 0; s < table.size(); ++s) {
    const bool holds = table.state(s)[0] == 1 || table.state(s)[1] == 2;
    EXPECT_NEAR(table.logp(s), holds ? -0.5 : -1.75, 1e-15);
  }
}

TEST(Factors, RefusesValuesThatDoNotFit) {
  const auto refused = [](auto change) {
    FactorsModel m = equal_bits();
    change(m);
    EXPECT_THROW(Factors{m}, DataError);
  };
  using Scope = std::vector<std::int32_t>;
  refused([](FactorsModel& m) { m.add_table(Scope{0, 5}, std::vector<double>(4)); });
  refused([](FactorsModel& m) { m.add_table(Scope{0, -1}, std::vector<double>(4)); });
  refused([](FactorsModel& m) { m.add_table(Scope{1, 1}, std::vector<double>(4)); });
  refused([](FactorsModel& m) { m.add_table(Scope{1, 2}, std::vector<double>(3)); });
  refused([](FactorsModel& m) { m.add_table(Scope{1}, std::vector{0.0, -kMinusInfinity}); });
  refused([](FactorsModel& m) { m.add_table(Scope{1}, std::vector{0.0, std::nan("")}); });
  refused([](FactorsModel& m) { m.add_table(Scope{1}, std::vector(2, kMinusInfinity)); });
  refused([](FactorsModel& m) { m.add_clause(Literals{{0, 2}}, 1); });
  refused([](FactorsModel& m) { m.add_clause(Literals{{7, 0}}, 1); });
  refused([](FactorsModel& m) { m.add_clause(Literals{{0, 0}}, -1); });
  refused([](FactorsModel& m) { m.add_clause(Literals{}, -kMinusInfinity); });
  refused([](FactorsModel& m) { m.constant = kMinusInfinity; });
  refused([](FactorsModel& m) { m.levels = {1, 1, 1, 1, 1}; });
}

// Mean acceptance of DMALA at step size 1 on equal_bits, by an independent enumeration. Without a
// floor the two bits never change.
TEST(Factors, TheFloorJoinsWhatForbiddenStatesPart) {
  const struct {
    double floor, acceptance;
  } cases[] = {{40, .854679}, {20, .854632}, {10, .847741}, {4, .731622}};
  for (const auto& c : cases) {
    const Factors target(equal_bits(), c.floor);
    const auto dmala = make_sampler("dmala", target, {{"step_size", "1"}});
    const Conformance result = check_transitions(*dmala, StateTable(target));
    EXPECT_NEAR(result.acceptance, c.acceptance, 1e-6) << c.floor;
    EXPECT_TRUE(result.irreducible);
    EXPECT_LT(result.invariance, 1e-12);
  }
  EXPECT_EQ(Factors(equal_bits()).floor(), 4);
  EXPECT_EQ(Factors::usual_floor(1'000'000), 20);
  const Factors usual(equal_bits());
  const auto tuned = make_sampler("dmala", usual, {{"step_size", "5"}});
  EXPECT_LT(second_eigenvalue(*tuned, StateTable(usual)), 0.995);  // it crosses in practice, too
  const Factors parted(equal_bits(), 1e6);
  const auto dmala = make_sampler("dmala", parted, {{"step_size", "1"}});
  EXPECT_FALSE(check_transitions(*dmala, StateTable(parted)).irreducible);
}

// n bits that must all agree and clauses that exclude zeros: far from a random state.
TEST(Factors, FindsAllowedStates) {
  const int n = 40;
  FactorsModel m;
  m.levels.assign(n, 2);
  for (int i = 0; i + 1 < n; ++i) {
    m.add_clause(Literals{{i, 0}, {i + 1, 1}}, -kMinusInfinity);
    m.add_clause(Literals{{i, 1}, {i + 1, 0}}, -kMinusInfinity);
  }
  m.add_clause(Literals{{3, 1}, {7, 1}}, -kMinusInfinity);
  const Factors target(m);
  for (std::uint32_t chain = 0; chain < 5; ++chain) {
    const Stream stream(1, chain, 0, Purpose::start);
    std::vector<Symbol> x(n);
    for (int i = 0; i < n; ++i)
      x[static_cast<std::size_t>(i)] =
          static_cast<Symbol>(stream.word(static_cast<std::uint32_t>(i)) >> 31);
    ASSERT_TRUE(target.make_allowed(stream, x.data()));
    EXPECT_EQ(logp_of(target, x.data()), 0);
  }
  std::vector<Symbol> allowed(n, 1), before = allowed;
  EXPECT_TRUE(target.make_allowed(Stream(1, 0, 0, Purpose::start), allowed.data()));
  EXPECT_EQ(allowed, before);
  m.add_clause(Literals{{5, 0}, {6, 0}}, -kMinusInfinity);  // and now none is left
  EXPECT_FALSE(Factors(m).make_allowed(Stream(1, 0, 0, Purpose::start), allowed.data()));
}

// Each coordinate follows from two before it: changes of one at a time do not get there.
TEST(Factors, FindsAllowedStatesOfANetwork) {
  const int n = 200, levels = 5;
  FactorsModel m;
  m.levels.assign(n, levels);
  for (int i = 2; i < n; ++i) {
    std::vector<double> table;
    for (int k = 0; k < levels * levels * levels; ++k) {
      const int a = k / (levels * levels), b = k / levels % levels;
      table.push_back((3 * a + 2 * b + i) % levels == k % levels ? 0.0 : kMinusInfinity);
    }
    // Children have lower numbers than their parents.
    m.add_table(std::vector<std::int32_t>{n - 1 - (i - 2 - i % 2), n - i, n - 1 - i}, table);
  }
  const Factors target(m);
  for (std::uint32_t chain = 0; chain < 5; ++chain) {
    std::vector<Symbol> x(n, 0);
    ASSERT_TRUE(target.make_allowed(Stream(1, chain, 0, Purpose::start), x.data()));
    EXPECT_EQ(logp_of(target, x.data()), 0);
  }
}

// x_0, x_1, and their sum; of a child of both, only that it was seen.
TEST(Factors, DrawsStartsOfANetworkParentsFirst) {
  FactorsModel m;
  m.levels.assign(3, 2);
  const auto logs = [](std::vector<double> p) {
    for (double& v : p) v = std::log(v);
    return p;
  };
  m.add_table(std::vector<std::int32_t>{0}, logs({0.3, 0.7}));
  m.add_table(std::vector<std::int32_t>{1}, logs({0.5, 0.5}));
  m.add_table(std::vector<std::int32_t>{0, 1, 2}, logs({1, 0, 0, 1, 0, 1, 1, 0}));
  m.add_table(std::vector<std::int32_t>{0, 1}, logs({0.1, 0.4, 0.2, 0.3}));
  const Factors target(m);
  double ones = 0, seconds = 0;
  const int draws = 4000;
  for (std::uint32_t chain = 0; chain < draws; ++chain) {
    std::vector<Symbol> x = {0, 0, 1};
    ASSERT_TRUE(target.make_allowed(Stream(1, chain, 0, Purpose::start), x.data()));
    ASSERT_EQ(x[2], (x[0] + x[1]) % 2);
    ones += x[0], seconds += x[1];
  }
  // What is seen below weighs the last of its parents.
  const double p = 0.3 * 0.4 / 0.5 + 0.7 * 0.3 / 0.5;
  EXPECT_NEAR(ones / draws, 0.7, 5 * std::sqrt(0.7 * 0.3 / draws));
  EXPECT_NEAR(seconds / draws, p, 5 * std::sqrt(p * (1 - p) / draws));
}

TEST(Factors, SamplersWithoutATestAreRefused) {
  const Factors forbids(equal_bits()), plain(uneven_factors());
  for (const char* name : {"dula", "rmala", "dsvgd"}) {
    EXPECT_THROW(make_sampler(name, forbids, {}), UsageError) << name;
  }
  EXPECT_NO_THROW(make_sampler("dula", plain, {}));
  const auto names = samplers_for(forbids);
  for (const char* name : {"dmala", "gibbs", "gwg", "pas", "dlmc", "locally_balanced"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace
}  // namespace saltus
