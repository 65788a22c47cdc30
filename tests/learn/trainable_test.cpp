// Gradients of models with respect to their parameters, and targets whose parameters change.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "saltus/core/error.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "small_models.hpp"

namespace saltus {
namespace {

std::vector<float> numbers(std::size_t count, double range, std::uint32_t which) {
  const Stream stream(31, which, 0, Purpose::check);
  std::vector<float> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = static_cast<float>(range * (2 * stream.uniform(static_cast<std::uint32_t>(i)) - 1));
  }
  return v;
}

double mean_logp(const Target& target, Rows<const Symbol> x) {
  double sum = 0;
  for (int r = 0; r < x.rows; ++r) sum += logp_of(target, x[r]);
  return sum / x.rows;
}

// More rows and columns than a task has, and not multiples of it.
constexpr int kData = 41, kSamples = 67;

struct Contrast {
  std::vector<float> gradient;
  double gap;
};
Contrast contrast(Trainable& model, Rows<const Symbol> data, Rows<const Symbol> samples,
                  int threads) {
  ThreadPool pool(threads);
  Contrast c{std::vector<float>(model.parameters().size()), 0};
  c.gap = model.contrast(data, samples, c.gradient, pool);
  return c;
}

// The central difference over +-h of mean logp(data) - mean logp(samples), `which` parameters
// changed together: off by h^2 times a third derivative, which is below 1 here.
double slope(Trainable& model, std::initializer_list<std::size_t> which, Rows<const Symbol> data,
             Rows<const Symbol> samples) {
  constexpr float h = 1.0f / 128;
  const auto at = [&](float change) {
    for (const std::size_t i : which) model.parameters()[i] += change;
    model.parameters_changed();
    return mean_logp(model.target(), data) - mean_logp(model.target(), samples);
  };
  const double up = at(h), down = at(-2 * h);
  at(h);
  return (up - down) / (2 * double{h});
}

TEST(TrainableRbm, GradientsAgreeWithDifferences) {
  const RowBuffer<Symbol> data = coins(kData, 7, 1), samples = coins(kSamples, 7, 2);
  TrainableRbm model(data.view(), 37, 5);
  const std::vector<float> start = numbers(model.parameters().size(), 0.5, 1);
  std::copy(start.begin(), start.end(), model.parameters().begin());
  model.parameters_changed();
  const Contrast c = contrast(model, data.view(), samples.view(), 1);
  EXPECT_NEAR(c.gap,
              mean_logp(model.target(), data.view()) - mean_logp(model.target(), samples.view()),
              1e-4);
  EXPECT_EQ(contrast(model, data.view(), samples.view(), 3).gradient, c.gradient);
  for (std::size_t i = 0; i < start.size(); ++i) {
    EXPECT_NEAR(double{c.gradient[i]}, slope(model, {i}, data.view(), samples.view()), 3e-5) << i;
  }
}

TEST(TrainableIsing, GradientsAgreeWithDifferences) {
  constexpr int n = 9;
  const RowBuffer<Symbol> data = coins(kData, n, 1), samples = coins(kSamples, n, 2);
  for (const bool fields : {false, true}) {
    TrainableIsing model(n, fields, {.deviation = 0.3, .seed = 2});
    for (std::size_t i = model.weights(); i < model.parameters().size(); ++i) {
      model.parameters()[i] = 0.1f * static_cast<float>(i % 5) - 0.2f;
    }
    model.parameters_changed();
    const Contrast c = contrast(model, data.view(), samples.view(), 1);
    EXPECT_NEAR(c.gap,
                mean_logp(model.target(), data.view()) - mean_logp(model.target(), samples.view()),
                1e-5);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::size_t ij = i * n + j, ji = j * n + i;
        EXPECT_EQ(c.gradient[ij], c.gradient[ji]);
        EXPECT_NEAR(2 * double{c.gradient[ij]}, slope(model, {ij, ji}, data.view(), samples.view()),
                    1e-5);
      }
    }
    for (std::size_t k = model.weights(); k < model.parameters().size(); ++k) {
      EXPECT_NEAR(double{c.gradient[k]}, slope(model, {k}, data.view(), samples.view()), 1e-5);
    }
    EXPECT_EQ(contrast(model, data.view(), samples.view(), 3).gradient, c.gradient);
  }
}

TEST(TrainableIsing, ManySpinsAreSplitIntoTasks) {
  constexpr int n = 150;
  const RowBuffer<Symbol> data = coins(kData, n, 1), samples = coins(kSamples, n, 2);
  TrainableIsing model(n, false, {});
  const Contrast c = contrast(model, data.view(), samples.view(), 2);
  const auto correlation = [](Rows<const Symbol> x, int i, int j) {
    int same = 0;
    for (int r = 0; r < x.rows; ++r) same += x[r][i] == x[r][j];
    return static_cast<float>(2 * same - x.rows) / static_cast<float>(x.rows);
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      ASSERT_EQ(c.gradient[static_cast<std::size_t>(i * n + j)],
                correlation(data.view(), i, j) - correlation(samples.view(), i, j));
    }
  }
}

// ln of the root mean square distance to the torus with J = 0.25 is -3.912023 for J = 0, and
// -3.8532 with the random start.
TEST(TrainableIsing, StartsWhereThePaperDoes) {
  constexpr int side = 25;
  const TrainableIsing model(side * side, false, {});
  const auto far = [](int a, int b) { return std::min(std::abs(a - b), side - std::abs(a - b)); };
  double sum = 0, sum_of_none = 0;
  const std::size_t n = side * side;
  for (std::size_t e = 0; e < n * n; ++e) {
    const int i = static_cast<int>(e / n), j = static_cast<int>(e % n);
    const double truth = far(i / side, j / side) + far(i % side, j % side) == 1 ? 0.25 : 0;
    sum += std::pow(double{model.couplings()[e]} - truth, 2);
    sum_of_none += truth * truth;
  }
  EXPECT_NEAR(std::log(sum_of_none / static_cast<double>(n * n)) / 2, -3.912023, 1e-6);
  EXPECT_NEAR(std::log(sum / static_cast<double>(n * n)) / 2, -3.8532, 1e-3);
}

TEST(TrainableRbm, StartsFromTheDataMeans) {
  RowBuffer<Symbol> data(4, 3);  // means 0, 1/4, 1
  for (int r = 0; r < 4; ++r) data.view()[r][1] = r == 0, data.view()[r][2] = 1;
  TrainableRbm model(data.view(), 400, 9);
  const std::span<const float> p = model.parameters();
  const double range = 1 / std::sqrt(3.0);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < model.weights(); ++i) {
    EXPECT_LT(std::abs(p[i]), range);
    sum += double{p[i]}, squares += double{p[i]} * double{p[i]};
  }
  EXPECT_NEAR(sum / 1200, 0, 5 * range / std::sqrt(3.0 * 1200));
  EXPECT_NEAR(squares / 1200, range * range / 3, 0.1 * range * range / 3);
  EXPECT_NEAR(p[1200], std::log(0.01 / 0.99), 1e-6);
  EXPECT_NEAR(p[1201], std::log(0.25 / 0.75), 1e-6);
  EXPECT_NEAR(p[1202], std::log(0.99 / 0.01), 1e-6);
  for (std::size_t h = 1203; h < p.size(); ++h) EXPECT_EQ(p[h], 0);
}

// Everything a target can be asked for, at both ways to give it its parameters.
void expect_same(const Target& a, const Target& b, Rows<const Symbol> x) {
  Scratch scratch;
  const int dim = x.cols, kept = std::max(1, a.cache_size());
  struct Values {
    RowBuffer<float> score, target_cache;
    std::vector<double> logp;
  };
  const auto values = [&](const Target& t) {
    Values v{{x.rows, dim}, {x.rows, kept}, std::vector<double>(static_cast<std::size_t>(x.rows))};
    t.evaluate_and_cache({0, 0, scratch}, x, v.logp.data(), v.score.view(), v.target_cache.view());
    return v;
  };
  const Values of_a = values(a), of_b = values(b);
  EXPECT_EQ(of_a.logp, of_b.logp);
  for (int r = 0; r < x.rows; ++r) {
    std::vector<double> exact_a(static_cast<std::size_t>(dim)), exact_b = exact_a;
    EXPECT_EQ(logp_of(a, x[r], exact_a.data()), logp_of(b, x[r], exact_b.data()));
    EXPECT_EQ(exact_a, exact_b);
    std::vector<Symbol> state(x[r], x[r] + dim);
    for (int i = 0; i < dim; ++i) {
      EXPECT_EQ(of_a.score.view()[r][i], of_b.score.view()[r][i]);
      double difference_a = 0, difference_b = 0;
      a.local_moves()->differences(
          {state.data(), of_a.score.view()[r], of_a.target_cache.view()[r]}, i,
          1 - state[static_cast<std::size_t>(i)], 1, &difference_a);
      b.local_moves()->differences(
          {state.data(), of_b.score.view()[r], of_b.target_cache.view()[r]}, i,
          1 - state[static_cast<std::size_t>(i)], 1, &difference_b);
      EXPECT_EQ(difference_a, difference_b);
    }
  }
}

TEST(SetParameters, MakesTheSameRbm) {
  const int visible = 70, hidden = 21;
  const auto w = numbers(visible * hidden, 0.4, 1), b = numbers(visible, 0.5, 2),
             c = numbers(hidden, 0.5, 3);
  const Rbm made({w.begin(), w.end()}, {b.begin(), b.end()}, {c.begin(), c.end()});
  Rbm changed(std::vector<double>(visible * hidden, 0.3), std::vector<double>(visible, 1),
              std::vector<double>(hidden, -1));
  changed.set_parameters(w, b, c);
  const RowBuffer<Symbol> x = coins(5, visible, 4);
  expect_same(made, changed, x.view());
  std::vector<double> odds(visible), other(visible);
  const RowBuffer<Symbol> h = coins(1, hidden, 5);
  made.visible_log_odds_exact(h.view()[0], odds.data());
  changed.visible_log_odds_exact(h.view()[0], other.data());
  EXPECT_EQ(odds, other);
  EXPECT_THROW(changed.set_parameters(w, c, b), DataError);
}

TEST(SetMatrix, MakesTheSameQuadratic) {
  constexpr int n = 40;
  const auto w = numbers(n * n, 0.2, 1), b = numbers(n, 0.5, 2);
  std::vector<Coupling> couplings;
  std::vector<float> symmetric(n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      const float v = w[static_cast<std::size_t>(i * n + j)];
      couplings.push_back({i, j, double{v} / (i == j ? 2 : 1)});
      symmetric[static_cast<std::size_t>(i * n + j)] =
          symmetric[static_cast<std::size_t>(j * n + i)] = v;
    }
  }
  const Quadratic made("quadratic", Domain::spin(n), couplings, {b.begin(), b.end()});
  ASSERT_TRUE(made.dense());
  Quadratic changed("quadratic", Domain::spin(n), {{0, 1, 5.0}}, std::vector<double>(n, 2),
                    Quadratic::Storage::dense);
  changed.set_matrix(std::vector<float>(n * n, 1.0f), b);
  changed.set_matrix(symmetric, b);
  const RowBuffer<Symbol> x = coins(20, n, 4);
  expect_same(made, changed, x.view());
  EXPECT_EQ(made.max_neighbours(), changed.max_neighbours());
  std::vector<std::int32_t> order(3 * n), of_a(20), of_b(20);
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<std::int32_t>(t * 7 % n);
  for (const int rows : {1, 20}) {  // one at a time, and side by side
    const RowBuffer<Symbol> y = coins(rows, n, 4), z = coins(rows, n, 4);
    std::vector<std::uint32_t> count_y(20), count_z(20);
    Scratch scratch;
    made.update({0, 0, scratch}, y.view(), order, {3, 0, 0, 0}, count_y.data());
    changed.update({0, 0, scratch}, z.view(), order, {3, 0, 0, 0}, count_z.data());
    EXPECT_EQ(count_y, count_z);
    EXPECT_GT(count_y[0], 0u);
    for (int r = 0; r < rows; ++r)
      EXPECT_TRUE(std::equal(y.view()[r], y.view()[r] + n, z.view()[r]));
  }
  EXPECT_THROW(changed.set_matrix(w, std::vector<float>(n - 1)), DataError);
  Quadratic sparse("quadratic", Domain::spin(n), {{0, 1, 5.0}}, {});
  EXPECT_THROW(sparse.set_matrix(symmetric, b), UsageError);
}

}  // namespace
}  // namespace saltus
