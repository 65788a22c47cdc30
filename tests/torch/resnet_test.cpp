// Residual-network energies on tensors: values, gradients, files, and learning.
#include <gtest/gtest.h>

#include <cmath>

#include "io/test_files.hpp"
#include "plain_resnet.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {
namespace {

constexpr ResnetShape kSmall{5, 7, 3, 4, 2};

std::vector<double> means(int pixels) {
  std::vector<double> m;
  for (int i = 0; i < pixels; ++i) m.push_back(0.02 + 0.9 * i / pixels);
  return m;
}

ResnetEnergy small(std::uint64_t seed) {
  ResnetEnergy energy = ResnetEnergy::random(kSmall, means(kSmall.pixels()), seed);
  for (float& p : energy.parameters) p *= 1.5f;  // so that f is no small part of log p
  return energy;
}

RowBuffer<Symbol> random_rows(int rows, int cols, std::uint64_t seed, double probability = 0.5) {
  RowBuffer<Symbol> x(rows, cols);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < cols; ++i) {
      x.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < probability;
    }
  }
  return x;
}

std::vector<double> values(Rows<const Symbol> x, int row) {
  return {x[row], x[row] + x.cols};
}

TEST(Resnet, HasTheLogPAndScoreOfItsFormula) {
  for (const ResnetShape& shape :
       {kSmall, ResnetShape{4, 4, 2, 0, 0}, ResnetShape{3, 2, 4, 2, 0}}) {
    ResnetEnergy energy = ResnetEnergy::random(shape, means(shape.pixels()), 3);
    for (float& p : energy.parameters) p *= 1.5f;
    const PlainResnet plain(energy);
    const auto target = torch_module().resnet(energy, {});
    EXPECT_EQ(target->shape(), (std::vector<int>{shape.height, shape.width}));
    const RowBuffer<Symbol> x = random_rows(20, shape.pixels(), 9);
    const RowBuffer<float> score(20, shape.pixels());
    std::vector<double> logp(20), alone(20);
    Scratch scratch;
    target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
    target->evaluate({0, 0, scratch}, x.view(), alone.data(), {});
    for (int r = 0; r < 20; ++r) {
      std::vector<double> v = values(x.view(), r);
      EXPECT_NEAR(logp[static_cast<std::size_t>(r)], plain.logp(v), 1e-5);
      EXPECT_NEAR(alone[static_cast<std::size_t>(r)], plain.logp(v), 1e-5);
      for (std::size_t i = 0; i < v.size(); ++i) {
        const double at = v[i], step = 1e-5;
        v[i] = at + step;
        const double above = plain.logp(v);
        v[i] = at - step;
        const double below = plain.logp(v);
        v[i] = at;
        EXPECT_NEAR(score.view()[r][i], (above - below) / (2 * step), 1e-4) << r << " " << i;
      }
    }
  }
}

TEST(Resnet, OfThePaperIsEvaluatedInAnyTile) {
  const ResnetEnergy energy = ResnetEnergy::random({}, means(784), 1);
  EXPECT_EQ(energy.parameters.size(), 599'873u);
  const auto target = torch_module().resnet(energy, {});
  const RowBuffer<Symbol> x = random_rows(5, 784, 2);
  const RowBuffer<float> score(5, 784), one(1, 784);
  std::vector<double> logp(5);
  double single = 0;
  Scratch scratch;
  target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
  target->evaluate({0, 0, scratch}, {x.view()[3], 1, 784, 832}, &single, one.view());
  EXPECT_NEAR(single, logp[3], 1e-4);
  for (int i = 0; i < 784; ++i) EXPECT_NEAR(one.view()[0][i], score.view()[3][i], 1e-5) << i;
}

TEST(Resnet, FileIsAModel) {
  const TestFolder folder;
  const ResnetEnergy energy = small(4);
  write_model(folder / "net.json", energy);
  const Model model = load_model((folder / "net.json").string());
  EXPECT_EQ(model.target->name(), "resnet-ebm");
  EXPECT_NO_THROW(parse_model(model.text, "again"));  // the path is absolute now
  const auto direct = torch_module().resnet(energy, {});
  const RowBuffer<Symbol> x = random_rows(1, kSmall.pixels(), 1);
  EXPECT_EQ(logp_of(*model.target, x.view()[0]), logp_of(*direct, x.view()[0]));
}

// The loss of two batches by the loops, and its derivative by central differences.
double loss(const PlainResnet& plain, Rows<const Symbol> data, Rows<const Symbol> samples) {
  double sum = 0;
  for (int r = 0; r < data.rows; ++r) sum -= plain.logp(values(data, r)) / data.rows;
  for (int r = 0; r < samples.rows; ++r) sum += plain.logp(values(samples, r)) / samples.rows;
  return sum;
}

// Of the network's part of log p.
double mean_square(const PlainResnet& plain, Rows<const Symbol> x) {
  const std::vector<double> m = means(x.cols);
  double sum = 0;
  for (int r = 0; r < x.rows; ++r) {
    double f = plain.logp(values(x, r));
    for (int i = 0; i < x.cols; ++i) {
      const double p = m[static_cast<std::size_t>(i)];
      f -= std::log(x[r][i] ? p : 1 - p);
    }
    sum += f * f / x.rows;
  }
  return sum;
}

void check_steps(double penalty) {
  const ResnetShape shape{3, 4, 2, 2, 1};
  ResnetEnergy energy = ResnetEnergy::random(shape, means(12), 8);
  // A large epsilon: without it a step would hardly depend on the size of the gradient.
  const NetworkLearning options{{0, 0.8, 0.95, 0.3}, 0.9, penalty};
  const auto network = torch_module().learn_resnet(energy, options, {});
  PlainResnet plain(energy);
  const auto penalised = [&](const RowBuffer<Symbol>& data, const RowBuffer<Symbol>& samples) {
    return loss(plain, data.view(), samples.view()) +
           penalty * (mean_square(plain, data.view()) + mean_square(plain, samples.view()));
  };
  std::vector<double> m(energy.parameters.size()), v(m.size()), average = plain.parameters();
  for (int t = 1; t <= 3; ++t) {
    const RowBuffer<Symbol> data = random_rows(20, 12, 10u + static_cast<unsigned>(t), 0.8),
                            samples = random_rows(17, 12, 20u + static_cast<unsigned>(t), 0.3);
    const double rate = t == 1 ? 0 : 0.05;  // the moments move at rate 0, too
    std::vector<double> next = plain.parameters();
    for (std::size_t k = 0; k < m.size(); ++k) {
      double& p = plain.parameters()[k];
      const double at = p, step = 1e-5;
      p = at + step;
      const double above = penalised(data, samples);
      p = at - step;
      const double g = (above - penalised(data, samples)) / (2 * step);
      p = at;
      m[k] = 0.8 * m[k] + 0.2 * g;
      v[k] = 0.95 * v[k] + 0.05 * g * g;
      next[k] = at - rate * (m[k] / (1 - std::pow(0.8, t))) /
                         (std::sqrt(v[k] / (1 - std::pow(0.95, t))) + 0.3);
      average[k] = 0.9 * average[k] + 0.1 * next[k];
    }
    const double expected = loss(plain, data.view(), samples.view());
    const LearningNetwork::Means got = network->update(data.view(), samples.view(), rate);
    EXPECT_NEAR(got.samples - got.data, expected, 1e-5);
    plain.parameters() = next;
    const std::vector<float> now = network->parameters(), mean = network->averaged_parameters();
    for (std::size_t k = 0; k < m.size(); ++k) {
      EXPECT_NEAR(now[k], next[k], 2e-6) << t << " " << k;
      EXPECT_NEAR(mean[k], average[k], 2e-6) << t << " " << k;
    }
  }
  // The targets are at these parameters.
  const RowBuffer<Symbol> x = random_rows(1, 12, 3);
  EXPECT_NEAR(logp_of(network->target(), x.view()[0]), plain.logp(values(x.view(), 0)), 1e-5);
  plain.parameters() = average;
  EXPECT_NEAR(logp_of(network->averaged(), x.view()[0]), plain.logp(values(x.view(), 0)), 1e-5);
}

TEST(ResnetLearning, TakesAdamsSteps) {
  check_steps(0);
  check_steps(0.3);
}

TEST(ResnetLearning, GoesOnAfterAStopAsIfThereHadBeenNone) {
  const int d = kSmall.pixels();
  const auto learn = [&](LearningNetwork& network, unsigned first, unsigned last) {
    for (unsigned t = first; t < last; ++t) {
      network.update(random_rows(40, d, t, 0.7).view(), random_rows(40, d, 50 + t).view(), 1e-3);
    }
  };
  const auto whole = torch_module().learn_resnet(small(1), {}, {});
  learn(*whole, 0, 3);
  ByteWriter saved;
  whole->save(saved);
  learn(*whole, 3, 6);
  const auto resumed = torch_module().learn_resnet(small(2), {}, {});
  ByteReader in(saved.bytes());
  resumed->restore(in);
  EXPECT_TRUE(in.empty());
  learn(*resumed, 3, 6);
  EXPECT_EQ(resumed->parameters(), whole->parameters());
  EXPECT_EQ(resumed->averaged_parameters(), whole->averaged_parameters());
  ByteWriter one, other;
  whole->save(one);
  resumed->save(other);
  EXPECT_TRUE(std::ranges::equal(one.bytes(), other.bytes()));
  EXPECT_NE(whole->parameters(), small(1).parameters);
}

TEST(ResnetLearning, RaisesTheDataAboveTheSamples) {
  const int d = kSmall.pixels();
  const auto network = torch_module().learn_resnet(small(5), {}, {});
  const RowBuffer<Symbol> data = random_rows(30, d, 1, 0.8), samples = random_rows(30, d, 2, 0.2);
  const auto before = network->update(data.view(), samples.view(), 0);
  for (int t = 0; t < 40; ++t) network->update(data.view(), samples.view(), 5e-3);
  const auto after = network->update(data.view(), samples.view(), 0);
  EXPECT_GT(after.data - after.samples, before.data - before.samples + 5);
}

TEST(ResnetLearning, RefusesWhatCannotBe) {
  EXPECT_THROW(torch_module().learn_resnet(small(1), {{0, 1}, 0.9}, {}), UsageError);
  EXPECT_THROW(torch_module().learn_resnet(small(1), {{}, 1}, {}), UsageError);
  EXPECT_THROW(torch_module().learn_resnet(small(1), {{}, 0.9, -1}, {}), UsageError);
  ResnetEnergy bad = small(1);
  bad.parameters.pop_back();
  EXPECT_THROW(torch_module().resnet(bad, {}), DataError);
  const auto network = torch_module().learn_resnet(small(1), {}, {});
  const RowBuffer<Symbol> rows = random_rows(4, kSmall.pixels(), 1);
  EXPECT_THROW(network->update(rows.view(), {}, 1), DataError);
  network->update(rows.view(), random_rows(4, kSmall.pixels(), 2).view(), 1e30);
  const std::vector<float> before = network->parameters();
  EXPECT_THROW(network->update(rows.view(), rows.view(), 1e30), DataError);
  EXPECT_EQ(network->parameters(), before);
}

}  // namespace
}  // namespace saltus
