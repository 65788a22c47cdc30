#include "saltus/target/binary_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "made_up_regression.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/mini_batch.hpp"

namespace saltus {
namespace {

// The formula at the head of binary_network.hpp, for any real values v of the coordinates.
double by_formula(const RegressionRows& data, int hidden, double temperature,
                  const std::vector<double>& v) {
  const auto at = [&](int i) { return 2 * v[static_cast<std::size_t>(i)] - 1; };
  const int inputs = data.features * hidden;
  double sum = 0;
  for (int r = 0; r < data.rows(); ++r) {
    double logit = at(inputs + 2 * hidden);
    for (int h = 0; h < hidden; ++h) {
      double a = at(inputs + h);
      for (int f = 0; f < data.features; ++f) {
        a += at(f * hidden + h) * double{data.x[static_cast<std::size_t>(r * data.features + f)]};
      }
      logit += at(inputs + hidden + h) * std::tanh(a);
    }
    const double miss = 1 / (1 + std::exp(-logit)) - double{data.y[static_cast<std::size_t>(r)]};
    sum += miss * miss;
  }
  return -temperature * sum / data.rows();
}

std::vector<double> values(const Symbol* x, int dim) {
  return {x, x + dim};
}

TEST(BinaryNetwork, ExactLogpAndScoreAreThoseOfTheFormula) {
  const RegressionRows data = made_up_rows(11, 3);
  const BinaryNetwork network(data, {4, 7.5, 0});
  const int dim = network.domain().dim();
  ASSERT_EQ(dim, (3 + 2) * 4 + 1);
  const RowBuffer<Symbol> x = random_states(3, dim);
  for (int r = 0; r < 3; ++r) {
    std::vector<double> score(static_cast<std::size_t>(dim)), v = values(x.view()[r], dim);
    EXPECT_NEAR(logp_of(network, x.view()[r], score.data()), by_formula(data, 4, 7.5, v), 1e-12);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double step = 1e-5, here = v[i];
      v[i] = here + step;
      const double up = by_formula(data, 4, 7.5, v);
      v[i] = here - step;
      const double down = by_formula(data, 4, 7.5, v);
      v[i] = here;
      EXPECT_NEAR(score[i], (up - down) / (2 * step), 1e-8) << i;
    }
  }
}

struct Shape {
  int rows, features, hidden;
};

// Rows around a register, the padding of 64 and a block; one feature and more than 64; few units.
const std::vector<Shape> kShapes = {{1, 1, 1},     {2, 3, 2},     {15, 1, 5},    {16, 2, 3},
                                    {17, 70, 8},   {63, 13, 50},  {65, 88, 33},  {256, 13, 500},
                                    {257, 5, 500}, {700, 9, 200}, {1100, 129, 7}};

// A pre-activation is a sum of `features` products, rounded at each of them, and tanh is off by
// 3e-7: with errors that add up like random ones, a logit is off by about 3e-7 sqrt(hidden) (1 +
// sqrt(features)); four of those here. |2 (f - y) f (1 - f)| is at most 0.3.
double logit_tolerance(const Shape& s) {
  return 1.2e-6 * std::sqrt(s.hidden) * (1 + std::sqrt(s.features));
}

TEST(BinaryNetwork, FastEvaluationsAreTheExactOnes) {
  for (const Shape& s : kShapes) {
    SCOPED_TRACE(testing::Message() << s.rows << " x " << s.features << " x " << s.hidden);
    const double temperature = 100;
    const BinaryNetwork network(made_up_rows(s.rows, s.features), {s.hidden, temperature, 0});
    const int dim = network.domain().dim(), states = 3;
    const RowBuffer<Symbol> x = random_states(states, dim);
    RowBuffer<float> score(states, dim), kept(states, network.cache_size()), again(states, dim);
    RowBuffer<double> exact_score(states, dim);
    std::vector<double> logp(states), exact(states), alone(states);
    Scratch scratch;
    const At at{0, 0, scratch};
    network.evaluate_and_cache(at, x.view(), logp.data(), score.view(), kept.view());
    network.evaluate(at, x.view(), alone.data(), {});
    network.evaluate(at, x.view(), nullptr, again.view());
    network.evaluate_exact(at, x.view(), exact.data(), exact_score.view());
    const double tolerance = temperature * 0.3 * logit_tolerance(s);
    for (int r = 0; r < states; ++r) {
      const auto k = static_cast<std::size_t>(r);
      EXPECT_EQ(logp[k], alone[k]);
      EXPECT_NEAR(logp[k], exact[k], tolerance);
      for (int i = 0; i < dim; ++i) {
        EXPECT_EQ(score.view()[r][i], again.view()[r][i]) << i;
        // The second derivative by the logit is at most 0.2, and weights of one count twice.
        ASSERT_NEAR(score.view()[r][i], exact_score.view()[r][i], 4 * tolerance) << r << " " << i;
      }
    }
  }
}

TEST(BinaryNetwork, RowsAreIndependentOfTheirTile) {
  const BinaryNetwork network(made_up_rows(300, 13), {40, 100, 0});
  const int dim = network.domain().dim();
  const RowBuffer<Symbol> x = random_states(4, dim);
  RowBuffer<float> together(4, dim), alone(1, dim);
  std::vector<double> logp(4);
  Scratch scratch;
  network.evaluate({0, 0, scratch}, x.view(), logp.data(), together.view());
  for (int r = 0; r < 4; ++r) {
    double one = 0;
    network.evaluate({5, 9, scratch}, {x.view()[r], 1, dim, dim}, &one, alone.view());
    EXPECT_EQ(one, logp[static_cast<std::size_t>(r)]);
    EXPECT_TRUE(std::equal(alone.view()[0], alone.view()[0] + dim, together.view()[r]));
  }
}

// ---- A network of seven weights, of which everything is known

BinaryNetwork tiny() {
  RegressionRows data;
  data.features = 1;
  data.x = {-1.1f, 0.4f, 0.9f, 1.7f, -0.2f};
  data.y = {0, 1, 1, 0, 1};
  return {data, {2, 12, 0}};
}

TEST(TinyNetwork, EnumeratedProbabilities) {
  const BinaryNetwork network = tiny();
  const StateTable table(network);
  ASSERT_EQ(table.size(), 128u);
  double log_z = 0;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const double wanted = by_formula(network.rows(), 2, 12, values(table.state(s), 7));
    EXPECT_NEAR(table.logp(s), wanted, 1e-12);
    log_z += std::exp(wanted);
  }
  EXPECT_NEAR(table.log_z(), std::log(log_z), 1e-12);
}

TEST(TinyNetwork, SamplersLeaveItInvariantAndStepAsTheirMatrixSays) {
  const BinaryNetwork network = tiny();
  const StateTable table(network);
  const std::vector<std::pair<std::string, Settings>> samplers = {
      {"dmala", {{"step_size", "0.5"}}}, {"dmala", {{"step_size", "2"}}},
      {"gwg", {{"flips", "1"}}},         {"gwg", {{"flips", "2"}}},
      {"gibbs", {{"scan", "random"}}},   {"gibbs", {{"block", "2"}, {"scan", "systematic"}}},
      {"locally_balanced", {}},          {"hamming_ball", {{"block", "3"}, {"radius", "2"}}}};
  for (const auto& [name, settings] : samplers) {
    SCOPED_TRACE(name);
    const auto sampler = make_sampler(name, network, settings);
    const Conformance c = check_transitions(*sampler, table);
    EXPECT_LT(c.rows, 1e-12);
    EXPECT_LT(c.invariance, 1e-12);
    EXPECT_LT(c.l1, 1e-9);
    const StepCheck steps = check_steps(*sampler, network, table, 2000);
    EXPECT_GT(steps.p_value, 1e-5) << steps.chi_square << " on " << steps.degrees;
    EXPECT_FALSE(steps.impossible);
  }
}

// ---- Changes of single weights

TEST(NetworkMoves, DifferencesAndMovesAreThoseOfEvaluations) {
  for (const Shape& s : {Shape{5, 1, 2}, Shape{70, 3, 4}, Shape{1100, 70, 9}}) {
    SCOPED_TRACE(testing::Message() << s.rows << " x " << s.features << " x " << s.hidden);
    const BinaryNetwork network(made_up_rows(s.rows, s.features), {s.hidden, 100, 0});
    const int dim = network.domain().dim();
    const RowBuffer<Symbol> x = random_states(1, dim);
    RowBuffer<float> kept(1, network.cache_size()), fresh(1, network.cache_size());
    Scratch scratch;
    const At at{0, 0, scratch};
    double logp = 0;
    network.evaluate_and_cache(at, x.view(), &logp, {}, kept.view());
    const LocalRow row{x.view()[0], nullptr, kept.view()[0]};
    const BinaryNetworkShape shape = network.network();
    for (const int i : {0, shape.first_bias() - 1, shape.first_bias(), shape.second_weight() - 1,
                        shape.second_weight(), shape.second_bias() - 1, shape.second_bias()}) {
      const Symbol from = x.view()[0][i], to = from ? 0 : 1;
      double both[2], one = 0;
      network.differences(row, i, 0, 2, both);
      network.differences(row, i, to, 1, &one);
      EXPECT_EQ(both[from], 0);
      EXPECT_EQ(both[to], one);
      const double before = logp_of(network, x.view()[0]);
      network.move(row, i, to);
      EXPECT_EQ(x.view()[0][i], to);
      EXPECT_NEAR(one, logp_of(network, x.view()[0]) - before, 30 * logit_tolerance(s)) << i;
      network.evaluate_and_cache(at, x.view(), nullptr, {}, fresh.view());
      for (int r = 0; r < s.rows; ++r) {
        ASSERT_NEAR(kept.view()[0][r], fresh.view()[0][r], 8 * logit_tolerance(s)) << i << " " << r;
      }
    }
  }
}

// ---- Mini-batches

TEST(NetworkBatches, AreAFunctionOfSeedAndStepAndUnbiased) {
  const RegressionRows data = made_up_rows(40, 3);
  const BinaryNetwork full(data, {5, 100, 0}), batch(full, {5, 100, 7});
  EXPECT_TRUE(batch.stochastic());
  EXPECT_FALSE(full.stochastic());
  EXPECT_EQ(batch.cache_size(), 0);
  EXPECT_EQ(batch.local_moves(), nullptr);
  const int dim = full.domain().dim();
  const RowBuffer<Symbol> x = random_states(1, dim);
  RowBuffer<float> score(1, dim), exact(1, dim);
  Scratch scratch;
  double logp = 0, full_logp = 0;
  full.evaluate({0, 0, scratch}, x.view(), &full_logp, exact.view());
  std::vector<double> sum(static_cast<std::size_t>(dim) + 1), square = sum;
  const int steps = 4000;
  for (std::uint64_t t = 0; t < steps; ++t) {
    batch.evaluate({3, t, scratch}, x.view(), &logp, score.view());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double v = i < static_cast<std::size_t>(dim) ? double{score.view()[0][i]} : logp;
      sum[i] += v / steps;
      square[i] += v * v / steps;
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const double wanted =
        i < static_cast<std::size_t>(dim) ? double{exact.view()[0][i]} : full_logp;
    EXPECT_NEAR(sum[i], wanted, 5 * std::sqrt((square[i] - sum[i] * sum[i]) / steps) + 1e-5) << i;
  }
}

TEST(NetworkBatches, UseTheRowsDrawnAtTheStep) {
  const RegressionRows data = made_up_rows(40, 3);
  const BinaryNetwork batch(data, {5, 100, 7});
  std::vector<std::uint32_t> drawn(7);
  draw_batch(3, 11, 40, drawn);
  RegressionRows part;
  part.features = 3;
  for (const std::uint32_t r : drawn) {
    part.x.insert(part.x.end(), data.x.begin() + 3 * r, data.x.begin() + 3 * r + 3);
    part.y.push_back(data.y[r]);
  }
  const BinaryNetwork alone(part, {5, 100, 0});
  const int dim = batch.domain().dim();
  const RowBuffer<Symbol> x = random_states(2, dim);
  RowBuffer<float> score(2, dim), wanted(2, dim);
  RowBuffer<double> exact_score(2, dim);
  std::vector<double> logp(2), wanted_logp(2), exact(2);
  Scratch scratch;
  batch.evaluate({3, 11, scratch}, x.view(), logp.data(), score.view());
  alone.evaluate({0, 0, scratch}, x.view(), wanted_logp.data(), wanted.view());
  batch.evaluate_exact({3, 11, scratch}, x.view(), exact.data(), exact_score.view());
  for (int r = 0; r < 2; ++r) {
    const auto k = static_cast<std::size_t>(r);
    EXPECT_EQ(logp[k], wanted_logp[k]);
    EXPECT_NEAR(logp[k], exact[k], 30 * logit_tolerance({7, 3, 5}));
    for (int i = 0; i < dim; ++i) {
      EXPECT_EQ(score.view()[r][i], wanted.view()[r][i]);
      EXPECT_NEAR(score.view()[r][i], exact_score.view()[r][i], 120 * logit_tolerance({7, 3, 5}));
    }
  }
}

TEST(NetworkBatches, AdjustedSamplersRefuseThem) {
  const BinaryNetwork batch(made_up_rows(40, 3), {5, 100, 7});
  EXPECT_EQ(samplers_for(batch), std::vector<std::string>{"dula"});
}

// ---- Predictions

TEST(NetworkPredictions, AreTheFormulas) {
  const Shape s{700, 7, 200};  // more than one block of rows
  const BinaryNetwork network(made_up_rows(20, s.features), {s.hidden, 100, 0});
  const RegressionRows other = made_up_rows(s.rows, s.features, 1);
  const RowBuffer<Symbol> x = random_states(3, network.domain().dim());
  RowBuffer<float> out(3, s.rows), again(3, s.rows);
  ThreadPool pool(2), one(1);
  network.predict(x.view(), other, out.view(), pool);
  network.predict(x.view(), other, again.view(), one);
  for (int k = 0; k < 3; ++k) {
    for (int r = 0; r < s.rows; ++r) {
      RegressionRows single;  // with a target of 0 the error is f^2
      single.features = s.features;
      const auto begin = other.x.begin() + r * s.features;
      single.x.assign(begin, begin + s.features);
      single.y = {0};
      const double square =
          -by_formula(single, s.hidden, 1, values(x.view()[k], network.domain().dim()));
      EXPECT_NEAR(out.view()[k][r], std::sqrt(square), 0.25 * logit_tolerance(s) + 1e-6);
      EXPECT_EQ(out.view()[k][r], again.view()[k][r]);
    }
  }
  EXPECT_THROW(network.predict(x.view(), made_up_rows(5, 8), out.view(), one), DataError);
}

TEST(BinaryNetwork, RefusesWhatDoesNotFit) {
  RegressionRows data = made_up_rows(4, 3);
  EXPECT_THROW(BinaryNetwork(data, {0, 100, 0}), UsageError);
  EXPECT_THROW(BinaryNetwork(data, {5, 0, 0}), UsageError);
  EXPECT_THROW(BinaryNetwork(data, {5, 100, 5}), UsageError);
  EXPECT_THROW(BinaryNetwork(data, {5, 100, -1}), UsageError);
  EXPECT_THROW(BinaryNetwork(RegressionRows{}, {}), DataError);
  data.x[4] = std::nanf("");
  EXPECT_THROW(BinaryNetwork(data, {}), DataError);
  data = made_up_rows(4, 3);
  data.x.pop_back();
  EXPECT_THROW(BinaryNetwork(data, {}), DataError);
}

}  // namespace
}  // namespace saltus
