#include "saltus/learn/contrastive_divergence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/scalar_math.hpp"
#include "saltus/core/error.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "saltus/sampler/block_gibbs.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_models.hpp"

namespace saltus {
namespace {

// The small RBM of the other tests.
const std::vector<float> kSmallRbm = {.8f, -1.2f, .5f, -.4f, .9f, 1.5f, -.2f, .4f, -.6f, .1f, -.3f};

void set(Trainable& model, const std::vector<float>& parameters) {
  std::copy(parameters.begin(), parameters.end(), model.parameters().begin());
  model.parameters_changed();
}

// d logp / d parameters of the small RBM at a state, in double.
std::vector<double> rbm_gradient(const Symbol* v) {
  const auto p = [](int i) { return double{kSmallRbm[static_cast<std::size_t>(i)]}; };
  std::vector<double> g(kSmallRbm.size());
  for (int h = 0; h < 2; ++h) {
    const double on =
        sigmoid(p(3 * h) * v[0] + p(3 * h + 1) * v[1] + p(3 * h + 2) * v[2] + p(9 + h));
    for (int i = 0; i < 3; ++i) g[static_cast<std::size_t>(3 * h + i)] = on * v[i];
    g[static_cast<std::size_t>(9 + h)] = on;
  }
  for (int i = 0; i < 3; ++i) g[static_cast<std::size_t>(6 + i)] = v[i];
  return g;
}

// Expectations of the gradient under a law on the states.
std::vector<double> expected(const StateTable& table, std::span<const double> law) {
  std::vector<double> sum(kSmallRbm.size());
  for (std::size_t s = 0; s < table.size(); ++s) {
    const auto g = rbm_gradient(table.state(s));
    for (std::size_t i = 0; i < g.size(); ++i) sum[i] += law[s] * g[i];
  }
  return sum;
}

// The mean loss gradient of many iterations at parameters that stay.
std::vector<double> mean_gradient(ContrastiveDivergence& learning, int iterations) {
  std::vector<double> mean(kSmallRbm.size());
  for (int t = 0; t < iterations; ++t) {
    learning.step();
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += double{learning.gradient()[i]} / iterations;
    }
  }
  return mean;
}

class SmallRbm : public testing::Test {
 protected:
  SmallRbm() : data_(coins(200, 3, 11)), model_(data_.view(), 2, 1), table_(model_.target()) {}
  void SetUp() override {
    set(model_, kSmallRbm);
    law_of_data_.resize(8);
    for (int r = 0; r < 200; ++r) law_of_data_[table_.index(data_.view()[r])] += 1.0 / 200;
  }
  RowBuffer<Symbol> data_;
  TrainableRbm model_;
  StateTable table_;  // of the states only: its logp is that of other parameters
  std::vector<double> law_of_data_;
};

// CD-1 contrasts the data with where one sweep leads from them. Entries of the gradient lie in
// [0, 1], so the mean over 400 x 200 samples has a standard error below 0.0018.
TEST_F(SmallRbm, CdHasTheExpectedGradient) {
  LearningPlan plan{.batch = 200, .steps = 1, .adam = {.rate = 0}};
  ContrastiveDivergence learning(model_, data_.view(), std::make_unique<BlockGibbs>(), plan);
  const StateTable table(model_.target());
  RowBuffer<double> matrix(8, 8);
  std::vector<double> acceptance(8), law(8);
  BlockGibbs().transition_matrix(table, {}, matrix.view(), acceptance);
  for (std::size_t s = 0; s < 8; ++s) {
    for (std::size_t t = 0; t < 8; ++t) {
      law[t] += law_of_data_[s] * matrix.view()[static_cast<int>(s)][t];
    }
  }
  const auto of_data = expected(table, law_of_data_), of_samples = expected(table, law),
             of_model = expected(table, table.probability());
  const auto mean = mean_gradient(learning, 400);
  double bias = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], of_samples[i] - of_data[i], 5 * 0.0018) << i;
    bias = std::max(bias, std::abs(of_samples[i] - of_model[i]));
  }
  EXPECT_GT(bias, 2 * 5 * 0.0018);  // it is not the gradient of the likelihood
}

// Persistent chains reach the model's own law. A state hardly remembers the one 5 sweeps before.
TEST_F(SmallRbm, PersistentChainsGiveTheLikelihoodGradient) {
  for (const char* name : {"block_gibbs", "dmala", "gwg"}) {
    Settings settings;
    if (name == std::string("dmala")) settings = {{"step_size", "1"}};
    if (name == std::string("gwg")) settings = {{"flips", "1"}};
    LearningPlan plan{.batch = 200, .chains = 200, .steps = 5, .adam = {.rate = 0}};
    ContrastiveDivergence learning(model_, data_.view(),
                                   make_sampler(name, model_.target(), settings), plan);
    const StateTable table(model_.target());
    const auto of_data = expected(table, law_of_data_),
               of_model = expected(table, table.probability());
    const auto mean = mean_gradient(learning, 400);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      EXPECT_NEAR(mean[i], of_model[i] - of_data[i], 8 * 0.0018) << name << " " << i;
    }
  }
}

TEST_F(SmallRbm, L1AddsTheSignsOfTheWeights) {
  LearningPlan plan{.batch = 200, .steps = 2, .adam = {.rate = 0}};
  ContrastiveDivergence plain(model_, data_.view(), std::make_unique<BlockGibbs>(), plan);
  plan.l1 = 0.25;
  ContrastiveDivergence sparse(model_, data_.view(), std::make_unique<BlockGibbs>(), plan);
  const LearningInfo a = plain.step(), b = sparse.step();
  EXPECT_NEAR(b.loss - a.loss, 0.25 * (.8 + 1.2 + .5 + .4 + .9 + 1.5), 1e-6);
  EXPECT_EQ(a.gap, b.gap);
  for (std::size_t i = 0; i < kSmallRbm.size(); ++i) {
    const float sign = i >= 6 ? 0 : kSmallRbm[i] > 0 ? 0.25f : -0.25f;
    EXPECT_NEAR(sparse.gradient()[i] - plain.gradient()[i], sign, 1e-6f) << i;
  }
}

// ---- Recovery

// Five spins. 20,000 rows determine an entry of G to about 0.005 and a field to about 0.01; the
// mean of the later parameters adds little to that.
TEST(Learning, RecoversAnIsingModel) {
  const std::vector<float> g = {0,     .2f,  -.15f, 0,    .1f,  .2f, 0,    .25f, 0,   0,
                                -.15f, .25f, 0,     .1f,  -.2f, 0,   0,    .1f,  0,   .15f,
                                .1f,   0,    -.2f,  .15f, 0,    .3f, -.2f, 0,    .1f, 0};
  TrainableIsing truth(5, true, {});
  set(truth, g);
  const RowBuffer<Symbol> data = exact_draws(truth.target(), 20000, 3);
  TrainableIsing model(5, true, {});
  LearningPlan plan{.batch = 500, .chains = 500, .steps = 5, .adam = {.rate = 0.005}};
  ContrastiveDivergence learning(model, data.view(),
                                 make_sampler("dmala", model.target(), {{"step_size", "1"}}), plan);
  std::vector<double> mean(g.size());
  const int iterations = 1200, counted = 800;
  for (int t = 0; t < iterations; ++t) {
    learning.step();
    for (std::size_t i = 0; t >= iterations - counted && i < g.size(); ++i) {
      mean[i] += double{model.parameters()[i]} / counted;
    }
  }
  for (std::size_t i = 0; i < g.size(); ++i) {
    EXPECT_NEAR(mean[i], double{g[i]}, 0.03) << i;
  }
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(model.couplings()[6 * i], 0);
}

// The parameters of an RBM are not unique; its distribution is. 20,000 rows determine the 16
// probabilities to a total variation of about 0.01, and steps of 0.01 move it by as much.
TEST(Learning, RecoversTheDistributionOfAnRbm) {
  const Rbm truth({2, -1.5, 1, 0.5, -1, 1.5, 2, -2}, {-.5, .3, -1, .5}, {-.5, .2});
  const RowBuffer<Symbol> data = exact_draws(truth, 20000, 3);
  const StateTable exact(truth);
  const auto distance = [&](TrainableRbm& model) {
    const StateTable learned(model.target());
    double sum = 0;
    for (std::size_t s = 0; s < exact.size(); ++s) {
      sum += std::abs(exact.probability()[s] - learned.probability()[s]) / 2;
    }
    return sum;
  };
  for (const int chains : {0, 500}) {
    TrainableRbm model(data.view(), 4, 1);
    const double before = distance(model);
    LearningPlan plan{.batch = 500, .chains = chains, .steps = 10, .adam = {.rate = 0.01}};
    ContrastiveDivergence learning(model, data.view(), std::make_unique<BlockGibbs>(), plan);
    for (int t = 0; t < 1000; ++t) learning.step();
    EXPECT_GT(before, 0.15);
    EXPECT_LT(distance(model), 0.05) << chains;
  }
}

// ---- Going on

struct Way {
  const char* name;
  int chains;
  Settings settings;
};

TEST(Learning, GoesOnBitByBitAndOnAnyNumberOfThreads) {
  const RowBuffer<Symbol> data = coins(150, 24, 3);
  for (const Way& way : std::vector<Way>{{"block_gibbs", 0, {}},
                                         {"block_gibbs", 70, {}},
                                         {"dmala", 70, {{"step_size", "0.3"}}},
                                         {"gwg", 70, {{"flips", "1"}}},
                                         {"gibbs", 70, {}},
                                         {"rmala", 70, {{"step_size", "0.01"}}}}) {
    LearningPlan plan{.batch = 40, .chains = way.chains, .steps = 7, .l1 = 0.01, .threads = 1};
    const auto make = [&](TrainableRbm& model) {
      return ContrastiveDivergence(model, data.view(),
                                   make_sampler(way.name, model.target(), way.settings), plan);
    };
    TrainableRbm whole(data.view(), 9, 1), second(data.view(), 9, 1);
    auto learning = make(whole);
    for (int t = 0; t < 11; ++t) learning.step();
    ByteWriter out;
    learning.save(out);
    plan.threads = 3;
    auto rest = make(second);
    ByteReader in(out.bytes());
    rest.restore(in);
    EXPECT_TRUE(in.empty());
    EXPECT_EQ(rest.iteration(), 11u);
    for (int t = 0; t < 12; ++t) {
      const LearningInfo a = learning.step(), b = rest.step();
      EXPECT_EQ(a.loss, b.loss) << way.name;
      EXPECT_EQ(a.changed, b.changed);
    }
    EXPECT_TRUE(std::ranges::equal(whole.parameters(), second.parameters())) << way.name;
    ByteReader cut(out.bytes().first(out.bytes().size() - 1));
    EXPECT_THROW(rest.restore(cut), DataError);
  }
}

TEST(Learning, IsingModelsGoOnToo) {
  const RowBuffer<Symbol> data = coins(100, 40, 3);
  const LearningPlan plan{.batch = 40, .drop_last = true, .chains = 30, .steps = 9, .l1 = 0.01};
  const auto make = [&](TrainableIsing& model) {
    return ContrastiveDivergence(
        model, data.view(), make_sampler("dmala", model.target(), {{"step_size", "0.3"}}), plan);
  };
  TrainableIsing whole(40, true, {}), second(40, true, {.deviation = 1, .seed = 9});
  auto learning = make(whole), rest = make(second);
  for (int t = 0; t < 40; ++t) learning.step();
  ByteWriter out;
  learning.save(out);
  ByteReader in(out.bytes());
  rest.restore(in);
  for (int t = 0; t < 40; ++t) learning.step(), rest.step();
  EXPECT_TRUE(std::ranges::equal(whole.parameters(), second.parameters()));
}

TEST(Learning, RefusesWhatCannotBe) {
  const RowBuffer<Symbol> data = coins(100, 6, 3), narrow = coins(100, 5, 3);
  TrainableRbm model(data.view(), 2, 1);
  const auto make = [&](Rows<const Symbol> rows, const char* name, const LearningPlan& plan) {
    ContrastiveDivergence(model, rows, make_sampler(name, model.target(), {}), plan);
  };
  EXPECT_NO_THROW(make(data.view(), "block_gibbs", {}));
  EXPECT_THROW(make(narrow.view(), "block_gibbs", {}), DataError);
  EXPECT_THROW(make(data.view(), "block_gibbs", {.batch = 101}), UsageError);
  EXPECT_THROW(make(data.view(), "block_gibbs", {.steps = 0}), UsageError);
  EXPECT_THROW(make(data.view(), "block_gibbs", {.l1 = -1}), UsageError);
  EXPECT_THROW(make(data.view(), "dmala", {}), UsageError);  // would be tuned
  EXPECT_THROW(TrainableIsing(1, false, {}), UsageError);
  EXPECT_THROW(TrainableRbm(data.view(), 0, 1), UsageError);
}

TEST(Learning, StopsWhereTheLossIsNotFinite) {
  const RowBuffer<Symbol> data = coins(100, 6, 3);
  TrainableRbm model(data.view(), 2, 1);
  ContrastiveDivergence learning(model, data.view(), std::make_unique<BlockGibbs>(),
                                 {.adam = {.rate = 3e38}});
  EXPECT_THROW(
      {
        for (int t = 0; t < 5; ++t) learning.step();
      },
      DataError);
}

}  // namespace
}  // namespace saltus
