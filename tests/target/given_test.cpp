// The law of some coordinates given the others, against the law of all.
#include "saltus/target/given.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "given_targets.hpp"
#include "larger_targets.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/exact.hpp"
#include "saltus/model/condition.hpp"

namespace saltus {
namespace {

constexpr int kGiven = 1;  // the coordinate that given_targets() gives

std::vector<SmallTarget> bounded_targets() {
  std::vector<SmallTarget> list;
  for (const auto& all : {small_targets(), forbidding_targets()}) {
    for (const SmallTarget& t : all) {
      if (t.name != "poisson") list.push_back(t);
    }
  }
  return list;
}

class GivenOf : public testing::TestWithParam<SmallTarget> {};

TEST_P(GivenOf, LogpAndScoreAreThoseOfTheWholeState) {
  const std::shared_ptr<const Target> model = GetParam().make();
  const Given given(model, {{kGiven, 0}});
  const Domain &all = model->domain(), &some = given.domain();
  const StateTable table(given, 6);
  std::vector<double> score(static_cast<std::size_t>(all.score_size()));
  RowBuffer<float> single(1, some.score_size());
  Scratch scratch;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const auto x = given.given().whole({table.state(s), static_cast<std::size_t>(some.dim())});
    EXPECT_EQ(x[kGiven], 0);
    EXPECT_EQ(table.logp(s), logp_of(*model, x.data(), score.data()));
    double logp = 0;
    const Rows<const Symbol> row{table.state(s), 1, some.dim(), some.dim()};
    given.evaluate({0, 0, scratch}, row, &logp, single.view());
    EXPECT_TRUE(logp == table.logp(s) || std::abs(logp - table.logp(s)) < 2e-6);
    for (int i = 0; i < some.dim(); ++i) {
      const int levels = some.kind() == Domain::Kind::ordered ? 1 : some.levels(i);
      for (int k = 0; k < levels; ++k) {
        const double expected = score[static_cast<std::size_t>(
            all.score_begin(given.given().free()[static_cast<std::size_t>(i)]) + k)];
        EXPECT_EQ(table.score(s)[some.score_begin(i) + k], expected);
        EXPECT_NEAR(single.view()[0][some.score_begin(i) + k], expected, 2e-6);
      }
    }
  }
}

TEST_P(GivenOf, SumsOverTheLevelsAddUpToZ) {
  const std::shared_ptr<const Target> model = GetParam().make();
  const double z = std::exp(StateTable(*model).log_z());
  for (int i = 0; i < model->domain().dim(); ++i) {
    double sum = 0;
    for (int v = 0; v < model->domain().levels(i); ++v) {
      sum += std::exp(StateTable(Given(model, {{i, v}})).log_z());
    }
    EXPECT_NEAR(sum / z, 1, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GivenOf, testing::ValuesIn(bounded_targets()),
                         [](const auto& p) { return p.param.name; });

class LargerGivenOf : public testing::TestWithParam<LargerTarget> {};

std::vector<GivenValue> every_third(const Domain& domain) {
  std::vector<GivenValue> list;
  for (int i = 0; i < domain.dim(); i += 3) {
    list.emplace_back(i, i % std::min(4, domain.levels(i)));
  }
  return list;
}

RowBuffer<Symbol> random_rows(const Domain& domain, int rows, std::uint32_t which) {
  RowBuffer<Symbol> x(rows, domain.dim());
  for (int r = 0; r < rows; ++r) {
    const Stream stream(3, which + static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < domain.dim(); ++i) {
      const int levels = std::min(domain.levels(i), 8);
      x.view()[r][i] = static_cast<Symbol>(stream.uniform(static_cast<std::uint32_t>(i)) * levels);
    }
  }
  return x;
}

// States near others, with what is cached there, are as good as evaluated afresh.
TEST_P(LargerGivenOf, IsTheSameNearAnEvaluatedState) {
  const std::shared_ptr<const Target> model = GetParam().make();
  const Given given(model, every_third(model->domain()));
  const int dim = given.domain().dim(), rows = 3;
  const RowBuffer<Symbol> x = random_rows(given.domain(), rows, 10);
  RowBuffer<Symbol> y(rows, dim);
  for (int r = 0; r < rows; ++r) {
    std::copy_n(x.view()[r], dim, y.view()[r]);
    const int changed = dim / (r + 2);
    y.view()[r][changed] = y.view()[r][changed] ? 0 : 1;
  }
  RowBuffer<float> score(rows, given.domain().score_size()), cache(rows, given.cache_size() + 1);
  RowBuffer<float> near(rows, given.domain().score_size()),
      fresh(rows, given.domain().score_size());
  const Rows<float> kept{cache.view().data, rows, given.cache_size(), cache.view().stride};
  std::vector<double> logp(rows), expected(rows);
  Scratch scratch;
  const At at{0, 0, scratch};
  given.evaluate_and_cache(at, x.view(), logp.data(), score.view(), kept);
  given.evaluate_near(at, {x.view(), score.view(), kept}, y.view(), logp.data(), near.view(), {});
  given.evaluate(at, y.view(), expected.data(), fresh.view());
  for (int r = 0; r < rows; ++r) {
    const auto k = static_cast<std::size_t>(r);
    EXPECT_NEAR(logp[k], expected[k], 1e-4 * (1 + std::abs(expected[k])));
    for (int i = 0; i < near.view().cols; ++i) {
      EXPECT_NEAR(near.view()[r][i], fresh.view()[r][i], 1e-4);
    }
  }
}

std::vector<LargerTarget> relaxed_targets() {
  std::vector<LargerTarget> list = larger_targets();
  std::erase_if(list, [](const LargerTarget& t) { return !t.make()->relaxation(); });
  return list;
}

class RelaxedGivenOf : public LargerGivenOf {};

TEST_P(RelaxedGivenOf, RelaxesTheFreeCoordinatesAlone) {
  const std::shared_ptr<const Target> model = GetParam().make();
  const Given given(model, every_third(model->domain()));
  const Domain &all = model->domain(), &some = given.domain();
  RowBuffer<float> v(2, some.dim()), whole(2, all.dim()), gradient(2, some.dim()),
      of_whole(2, all.dim());
  const Stream stream(4, 1, 0, Purpose::check);
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < all.dim(); ++i) {
      const int place = given.given().place(i);
      const auto between = static_cast<float>(stream.uniform(static_cast<std::uint32_t>(i + r)));
      whole.view()[r][i] =
          place < 0 ? static_cast<float>(all.value(given.given().value(i))) : between;
      if (place >= 0) v.view()[r][place] = between;
    }
  }
  double logp[2], expected[2];
  Scratch scratch;
  given.relaxation()->evaluate_relaxed({0, 0, scratch}, v.view(), logp, gradient.view());
  model->relaxation()->evaluate_relaxed({0, 0, scratch}, whole.view(), expected, of_whole.view());
  for (int r = 0; r < 2; ++r) {
    EXPECT_EQ(logp[r], expected[r]);
    for (int i = 0; i < some.dim(); ++i) {
      const int full = given.given().free()[static_cast<std::size_t>(i)];
      EXPECT_EQ(gradient.view()[r][i], of_whole.view()[r][full]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LargerGivenOf, testing::ValuesIn(larger_targets()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(Targets, RelaxedGivenOf, testing::ValuesIn(relaxed_targets()),
                         [](const auto& p) { return p.param.name; });

TEST(Given, HasTheAbilitiesOfTheModelButChainsOnADevice) {
  const std::shared_ptr<const Target> rbm = small_targets()[7].make();
  const Given given(rbm, {{0, 1}});
  EXPECT_EQ(given.name(), "rbm (given)");
  EXPECT_TRUE(given.local_moves() && given.relaxation() && given.hidden_units());
  EXPECT_FALSE(given.gibbs_sweeps() || given.on_device() || given.forbidden_states());
  EXPECT_TRUE(given.cheap_near());
  EXPECT_EQ(given.shape(), std::vector<int>{2});
  std::vector<std::int32_t> room(static_cast<std::size_t>(given.max_neighbours()));
  EXPECT_EQ(given.neighbours(0, room.data()).size(), 2u);
}

// The free coordinate whose model is told the forbidden states finds a way out.
TEST(Given, FindsAllowedStates) {
  const std::shared_ptr<const Target> bits = forbidding_targets()[0].make();  // 0 and 4 agree
  const Given given(bits, {{0, 1}});
  std::vector<Symbol> x(4, 0);
  EXPECT_EQ(logp_of(given, x.data()), -INFINITY);
  EXPECT_TRUE(given.forbidden_states()->make_allowed(Stream(1, 0, 0, Purpose::start), x.data()));
  EXPECT_EQ(x[3], 1);
  FactorsModel one = equal_bits();
  one.add_table(std::vector<std::int32_t>{0}, std::vector{0.0, kMinusInfinity});
  const Given never(std::make_shared<Factors>(std::move(one)), {{0, 1}});
  EXPECT_FALSE(never.forbidden_states()->make_allowed(Stream(1, 0, 0, Purpose::start), x.data()));
}

std::string refusal(const std::vector<GivenValue>& list) {
  try {
    const Given given(std::shared_ptr<const Target>(small_targets()[3].make()), list);
    return "";
  } catch (const UsageError& e) {
    return e.what();
  }
}

TEST(Given, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal({{3, 0}}), "coordinate 3 is given, but they count from 0 to 2");
  EXPECT_EQ(refusal({{-1, 0}}), "coordinate -1 is given, but they count from 0 to 2");
  EXPECT_EQ(refusal({{0, 2}}), "coordinate 0 is given level 2, but its levels are 0 to 1");
  EXPECT_EQ(refusal({{0, 1}, {2, 0}, {0, 1}}), "coordinate 0 is given twice");
  EXPECT_EQ(refusal({{0, 1}, {2, 0}, {1, 1}}),
            "all coordinates of the model bernoulli are given: there is nothing left to draw");
}

// Models into whose numbers given values can be folded.
struct FoldedModel {
  std::string name;
  AnyModel model;
  std::vector<GivenValue> given;
  friend void PrintTo(const FoldedModel& m, std::ostream* out) { *out << m.name; }
};

std::vector<FoldedModel> folded_models() {
  const IsingModel ising{
      4, {{0, 1, 0.6}, {2, 1, -0.5}, {2, 3, 0.4}, {0, 3, 0.3}}, {0.1, -0.3, 0.2, 0}, 0.7};
  const QuadraticModel ordered{Domain::ordered({4, 3, 2}),
                               {{0, 0, -0.2}, {0, 1, 0.3}, {1, 2, -0.4}, {2, 1, 0.25}},
                               {0.5, 0.1, 0.3},
                               -0.4};
  const PottsModel potts{
      Domain::categorical({3, 2, 4}),
      {.3, -.5, 1.1, .2, -.1, 0, .4, -.6, .2},
      {{0, 1, {.5, -.3, .2, .1, .8, -.6}}, {2, 1, {.3, -.4, -.2, .2, .5, 0, .1, .6}}},
      0.9};
  FactorsModel levels = uneven_factors();
  levels.add_table(std::vector<std::int32_t>{0, 2, 3},
                   std::vector{0.1, kMinusInfinity, 0.3, 0.4, 0.5, 0.6, kMinusInfinity, 0.8, 0.9,
                               1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, kMinusInfinity, 1.8});
  return {
      {"bernoulli", BernoulliModel{{-1.5, 0.2, 2}, 0.3}, {{1, 1}}},
      {"ising", ising, {{0, 0}, {2, 1}}},
      {"ising_pair", ising, {{0, 1}, {1, 0}}},
      {"lattice", LatticeModel{{2, 3}, true, 0.15, 0.2, 0.1}, {{4, 1}, {1, 0}}},
      {"ordered", ordered, {{0, 3}}},
      {"ordered_middle", ordered, {{1, 2}}},
      {"potts", potts, {{1, 1}}},
      {"potts_first", potts, {{0, 2}}},
      {"potts_two", potts, {{2, 3}, {1, 0}}},
      {"factors", levels, {{0, 2}}},
      {"factors_two", levels, {{3, 1}, {0, 0}}},
      {"equal_bits", equal_bits(), {{0, 1}}},
      {"hard_clauses", hard_clauses(), {{1, 1}, {0, 0}}},
      {"rbm", RbmModel{{.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3}, 0.6}, {{2, 1}}}};
}

class Folded : public testing::TestWithParam<FoldedModel> {};

// Two-level targets have the difference as score, others one for each level.
double score_between(const Domain& domain, const double* score, int i, int from, int to) {
  if (domain.kind() == Domain::Kind::categorical) {
    const double* of = score + domain.score_begin(i);
    return of[to] - of[from];
  }
  return (domain.value(to) - domain.value(from)) * score[i];
}

// Exact to rounding; a model that forbids states has a floor under its scores, which depends on the
// number of coordinates.
TEST_P(Folded, IsTheSameAsGiven) {
  const std::shared_ptr<const Target> model = make_target(GetParam().model);
  const Given given(model, GetParam().given);
  const auto folded = make_target(*condition(GetParam().model, given.given()));
  const StateTable expected(given), table(*folded);
  ASSERT_EQ(table.size(), expected.size());
  EXPECT_NEAR(table.log_z(), expected.log_z(), 1e-12);
  for (std::size_t s = 0; s < table.size(); ++s) {
    if (expected.logp(s) == -INFINITY) {
      EXPECT_EQ(table.logp(s), -INFINITY);
      continue;
    }
    EXPECT_NEAR(table.logp(s), expected.logp(s), 1e-12);
    for (int i = 0; i < given.domain().dim(); ++i) {
      for (int k = 0; k < given.domain().levels(i); ++k) {
        const int now = table.state(s)[i];
        const double a = score_between(table.domain(), table.score(s), i, now, k);
        const double b = score_between(given.domain(), expected.score(s), i, now, k);
        const bool floor = model->forbidden_states() && b < -Factors::usual_floor(1) / 2;
        if (floor) continue;
        EXPECT_NEAR(a, b, 1e-12) << i << " " << k;
      }
    }
  }
}

TEST_P(Folded, HasTheSameDifferences) {
  const std::shared_ptr<const Target> model = make_target(GetParam().model);
  const Given given(model, GetParam().given);
  const auto folded = make_target(*condition(GetParam().model, given.given()));
  const StateTable table(*folded);
  const auto row_of = [&](const Target& target, RowBuffer<Symbol>& x, RowBuffer<float>& score,
                          RowBuffer<float>& cache) {
    Scratch scratch;
    const bool some = target.cache_size() > 0;
    target.evaluate_and_cache({0, 0, scratch}, x.view(), nullptr, score.view(),
                              some ? cache.view() : Rows<float>{});
    return LocalRow{x.view()[0], score.view()[0], some ? cache.view()[0] : nullptr};
  };
  for (std::size_t s = 0; s < table.size(); ++s) {
    if (table.logp(s) == -INFINITY) continue;
    RowBuffer<Symbol> x(1, table.domain().dim());
    std::copy_n(table.state(s), table.domain().dim(), x.view()[0]);
    RowBuffer<float> score_a(1, table.domain().score_size()),
        score_b(1, given.domain().score_size()), cache_a(1, std::max(1, folded->cache_size())),
        cache_b(1, std::max(1, given.cache_size()));
    const LocalRow row_a = row_of(*folded, x, score_a, cache_a),
                   row_b = row_of(given, x, score_b, cache_b);
    for (int i = 0; i < given.domain().dim(); ++i) {
      std::vector<double> a(static_cast<std::size_t>(given.domain().levels(i))), b = a;
      const int levels = given.domain().levels(i);
      folded->local_moves()->differences(row_a, i, 0, levels, a.data());
      given.differences(row_b, i, 0, levels, b.data());
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (b[k] < -1e5 || a[k] < -1e5) {  // a penalty for what is forbidden
          EXPECT_LT(std::max(a[k], b[k]), -1e5);
        } else {
          EXPECT_NEAR(a[k], b[k], 2e-6);  // an RBM's are of its cached values, in single precision
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Folded, testing::ValuesIn(folded_models()),
                         [](const auto& p) { return p.param.name; });

// Elimination takes what is given of a factor graph out of it.
TEST(Given, OfAFactorGraphIsOne) {
  for (const FoldedModel& folded : folded_models()) {
    const std::shared_ptr<const Target> model = make_target(folded.model);
    if (!factor_graph(*model)) continue;
    const Given given(model, folded.given);
    EXPECT_NEAR(eliminate(*factor_graph(given)).log_z, StateTable(given).log_z(), 1e-12)
        << folded.name;
  }
}

TEST(Condition, LeavesNetworksAndCountsToGiven) {
  const PoissonModel counts{{0.7, 2.0}};
  EXPECT_FALSE(condition(counts, GivenValues(Poisson(counts).domain(), {{0, 1}})));
}

TEST(Condition, RefusesValuesThatContradictAFactor) {
  const auto why = [](const FactorsModel& m, std::vector<GivenValue> list) -> std::string {
    try {
      condition(m, GivenValues(Factors(m).domain(), std::move(list)));
      return "";
    } catch (const DataError& e) {
      return e.what();
    }
  };
  EXPECT_EQ(why(equal_bits(), {{0, 1}, {4, 0}}),
            "no state with the given values has a positive probability: table 2, over the "
            "coordinates 0, 4, forbids them all");
  EXPECT_EQ(why(hard_clauses(), {{0, 0}, {1, 1}, {2, 0}}),
            "no state with the given values has a positive probability: hard clause 0 has no "
            "literal left that could hold");
}

TEST(GivenValues, GoesThereAndBack) {
  const GivenValues given(Domain::spin(5), {{3, 1}, {0, 0}});
  EXPECT_EQ(given.text(), "0=0,3=1");
  EXPECT_EQ(given.free(), (std::vector<std::int32_t>{1, 2, 4}));
  const std::vector<Symbol> some = {1, 0, 1}, all = given.whole(some);
  EXPECT_EQ(all, (std::vector<Symbol>{0, 1, 0, 1, 1}));
  std::vector<Symbol> back(3);
  given.gather(all.data(), back.data());
  EXPECT_EQ(back, some);
}

}  // namespace
}  // namespace saltus
