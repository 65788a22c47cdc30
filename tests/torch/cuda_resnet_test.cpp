// The paper's residual network on a GPU, by the fused kernel and by libtorch, against the
// processor.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "cuda/cuda_fixture.hpp"
#include "cuda/resnet/energy.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {
namespace {

using CudaResnet = CudaFixture;

// Half precision is the fused kernel's, which a build and a GPU may not have.
class CudaHalfResnet : public CudaFixture {
 protected:
  void SetUp() override {
    CudaFixture::SetUp();
    if (!IsSkipped() && !cuda::FusedResnet::serves({})) GTEST_SKIP() << "no fused kernel here";
  }
};

// Weights so many times as large as at the start of learning: with 2, gradients are of a size that
// matters.
ResnetEnergy energy(float factor = 2) {
  std::vector<double> mean(784);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    mean[i] = 0.05 + 0.9 * static_cast<double>(i * 37 % 784) / 784;
  }
  ResnetEnergy e = ResnetEnergy::random({}, mean, 3);
  for (float& p : e.parameters) p *= factor;
  return e;
}

RowBuffer<Symbol> images(int rows) {
  RowBuffer<Symbol> x(rows, 784);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(8, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < 784; ++i) {
      x.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < 0.3;
    }
  }
  return x;
}

struct Values {
  std::vector<double> logp;
  RowBuffer<float> score;
};

Values evaluate(const Target& target, Rows<const Symbol> x) {
  Values v{std::vector<double>(static_cast<std::size_t>(x.rows)), RowBuffer<float>(x.rows, x.cols)};
  Scratch scratch;
  target.evaluate({1, 0, scratch}, x, v.logp.data(), v.score.view());
  return v;
}

struct Difference {
  double logp = 0;   // the largest, as a part of the largest f
  double score = 0;  // of all entries, as a part of the network's part of them
};

double base(const ResnetEnergy& e, const Symbol* x) {
  double sum = 0;
  for (std::size_t i = 0; i < e.base_mean.size(); ++i) {
    sum += std::log(x[i] ? e.base_mean[i] : 1 - e.base_mean[i]);
  }
  return sum;
}

Difference difference(const Values& a, const Values& b, const ResnetEnergy& e,
                      Rows<const Symbol> x) {
  Difference d;
  double wrong = 0, all = 0, largest = 0;
  for (std::size_t r = 0; r < a.logp.size(); ++r) {
    EXPECT_TRUE(std::isfinite(a.logp[r])) << r;
    d.logp = std::max(d.logp, std::abs(a.logp[r] - b.logp[r]));
    largest = std::max(largest, std::abs(b.logp[r] - base(e, x[static_cast<int>(r)])));
    for (int i = 0; i < 784; ++i) {
      const double m = e.base_mean[static_cast<std::size_t>(i)], logit = std::log(m / (1 - m));
      const float s = a.score.view()[static_cast<int>(r)][i],
                  t = b.score.view()[static_cast<int>(r)][i];
      EXPECT_TRUE(std::isfinite(s)) << r << " " << i;
      wrong += std::pow(double{s} - double{t}, 2);
      all += std::pow(double{t} - logit, 2);
    }
  }
  d.logp /= largest;
  d.score = std::sqrt(wrong / all);
  return d;
}

// Rounding of operands to 10 bits (TF32, half) changes activations by parts of up to 2^-11 in each
// of 17 layers, in directions that cancel for the most part; single precision by 2^-24.
TEST_F(CudaResnet, IsThatOfTheProcessor) {
  const ResnetEnergy e = energy();
  const RowBuffer<Symbol> x = images(133);  // more than a round of multiprocessors
  const Values host = evaluate(*torch_module().resnet(e, {}), x.view());
  struct Case {
    Precision precision;
    double logp, score;
  };
  for (const Case& c : {Case{Precision::single, 1e-5, 1e-4}, Case{Precision::tf32, 5e-3, 3e-3},
                        Case{Precision::half, 5e-3, 3e-3}}) {
    if (c.precision == Precision::half && !cuda::FusedResnet::serves({})) continue;
    const auto target = torch_module().resnet(e, {Device::cuda, c.precision});
    const Difference d = difference(evaluate(*target, x.view()), host, e, x.view());
    std::cout << "precision " << static_cast<int>(c.precision) << ": f differs by up to " << d.logp
              << " of the largest, the network's part of the score by " << d.score << " of it\n";
    EXPECT_LT(d.logp, c.logp);
    EXPECT_LT(d.score, c.score);
  }
}

// Far from its data a network that is being learned takes such values. The score errs by more where
// it is as steep as this, and with weights six times as large parts of it are cut off.
TEST_F(CudaHalfResnet, HalfPrecisionHoldsValuesOfMillions) {
  const RowBuffer<Symbol> x = images(40);
  double largest = 0;
  for (const auto& [factor, tolerance] : {std::pair(5.0f, 0.15), std::pair(6.0f, 0.2)}) {
    const ResnetEnergy e = energy(factor);
    const auto target = torch_module().resnet(e, {Device::cuda, Precision::half});
    const Values host = evaluate(*torch_module().resnet(e, {}), x.view());
    const Difference d = difference(evaluate(*target, x.view()), host, e, x.view());
    std::cout << "weights " << factor << " times as large: f differs by up to " << d.logp
              << " of the largest, the network's part of the score by " << d.score << " of it\n";
    EXPECT_LT(d.logp, 5e-3);
    EXPECT_LT(d.score, tolerance);
    for (const double logp : host.logp) largest = std::max(largest, std::abs(logp));
  }
  EXPECT_GT(largest, 1e6);
}

TEST_F(CudaResnet, HalfPrecisionIsForThePapersNetwork) {
  const ResnetEnergy e =
      ResnetEnergy::random({.channels = 8, .blocks = 2}, std::vector<double>(784, 0.5), 1);
  EXPECT_THROW(torch_module().resnet(e, {Device::cuda, Precision::half}), UsageError);
  EXPECT_NO_THROW(torch_module().resnet(e, {Device::cuda, Precision::tf32}));
  EXPECT_NO_THROW(torch_module().resnet(e, {Device::cuda, {}}));
}

// The Metropolis test is then exact for the distribution that the kernel defines.
TEST_F(CudaHalfResnet, IsAFunctionOfTheStateAlone) {
  const ResnetEnergy e = energy();
  const auto target = torch_module().resnet(e, {Device::cuda, Precision::half});
  const RowBuffer<Symbol> x = images(150);
  const Values all = evaluate(*target, x.view()), again = evaluate(*target, x.view());
  for (int r = 0; r < 150; ++r) {
    const Rows<const Symbol> row{x.view()[r], 1, 784, x.view().stride};
    const Values one = evaluate(*target, row);
    ASSERT_EQ(one.logp[0], all.logp[static_cast<std::size_t>(r)]) << r;
    ASSERT_EQ(again.logp[static_cast<std::size_t>(r)], all.logp[static_cast<std::size_t>(r)]);
    for (int i = 0; i < 784; ++i) {
      ASSERT_EQ(one.score.view()[0][i], all.score.view()[r][i]);
      ASSERT_EQ(again.score.view()[r][i], all.score.view()[r][i]);
    }
  }
}

struct Acceptance final : StepObserver {
  double sum = 0, squares = 0;
  std::uint64_t count = 0;
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
    for (const StepInfo& i : info) {
      sum += i.acceptance, squares += i.acceptance * i.acceptance, ++count;
    }
  }
  double mean() const { return sum / static_cast<double>(count); }
};

// The same starts and random numbers: single precision and the fused kernel accept alike. Chains
// part at some point, but steps from then on are draws from the same law.
TEST_F(CudaHalfResnet, AcceptsAsInSinglePrecision) {
  const ResnetEnergy e = energy();
  const RowBuffer<Symbol> x = images(100);
  double means[2];
  for (const Precision p : {Precision::single, Precision::half}) {
    const auto target = torch_module().resnet(e, {Device::cuda, p});
    const auto sampler = make_sampler("dmala", *target, {{"step_size", "0.2"}});
    Ensemble ensemble(*target, 100, 0, 1, 1);
    ensemble.start_from(x.view());
    ensemble.evaluate();
    Acceptance seen;
    ensemble.advance(*sampler, 500, seen);
    means[p == Precision::half] = seen.mean();
  }
  // 100 chains of 500 steps: the standard error of either mean is below 0.4 / sqrt(50,000) times
  // the root of the steps that the acceptance remembers, here a few.
  EXPECT_NEAR(means[0], means[1], 0.01);
  std::cout << "acceptance " << means[0] << " in single precision, " << means[1] << " fused\n";
}

TEST_F(CudaResnet, LearnsAsOnTheProcessor) {
  const ResnetEnergy start = energy();
  const RowBuffer<Symbol> x = images(60);
  const Rows<const Symbol> data{x.view()[0], 40, 784, x.view().stride},
      samples{x.view()[40], 20, 784, x.view().stride};
  NetworkLearning options;
  options.energy_penalty = 10;  // f is a few tenths: as much as the rest of the loss
  const auto host = torch_module().learn_resnet(start, options, {});
  const auto device =
      torch_module().learn_resnet(start, options, {Device::cuda, Precision::single});
  for (int step = 0; step < 3; ++step) {
    const auto a = host->update(data, samples, 1e-4), b = device->update(data, samples, 1e-4);
    EXPECT_NEAR(a.data, b.data, 2e-3);
    EXPECT_NEAR(a.samples, b.samples, 2e-3);
  }
  // Adam moves each parameter by about the rate, in the direction of the gradient's sign; where
  // that is in doubt through rounding, by as much the other way.
  const std::vector<float> p = host->parameters(), q = device->parameters(),
                           r = host->averaged_parameters(), s = device->averaged_parameters();
  double wrong = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    wrong += std::pow(double{p[k]} - double{q[k]}, 2);
    ASSERT_LT(std::abs(p[k] - q[k]), 1e-3);
    ASSERT_LT(std::abs(r[k] - s[k]), 1e-5);
  }
  EXPECT_LT(std::sqrt(wrong / static_cast<double>(p.size())), 1e-5);
}

// The fused kernel follows the parameters; and a stopped process would have gone on the same way.
TEST_F(CudaResnet, GoesOnFromWhatWasSaved) {
  const ResnetEnergy start = energy();
  const RowBuffer<Symbol> x = images(40);
  const Rows<const Symbol> data{x.view()[0], 20, 784, x.view().stride},
      samples{x.view()[20], 20, 784, x.view().stride};
  const auto learn = [&](LearningNetwork& network, int steps) {
    for (int k = 0; k < steps; ++k) network.update(data, samples, 1e-3);
  };
  const auto whole = torch_module().learn_resnet(start, {}, {Device::cuda, {}});
  learn(*whole, 2);
  ByteWriter saved;
  whole->save(saved);
  learn(*whole, 3);
  const auto other = torch_module().learn_resnet(start, {}, {Device::cuda, {}});
  ByteReader in(saved.bytes());
  other->restore(in);
  learn(*other, 3);
  EXPECT_EQ(whole->parameters(), other->parameters());
  EXPECT_EQ(whole->averaged_parameters(), other->averaged_parameters());
  const Values a = evaluate(whole->target(), x.view()), b = evaluate(other->target(), x.view());
  EXPECT_EQ(a.logp, b.logp);
  ResnetEnergy learned = start;
  learned.parameters = whole->parameters();
  const Values host = evaluate(*torch_module().resnet(learned, {}), x.view());
  EXPECT_LT(difference(a, host, start, x.view()).logp, 5e-3);
}

}  // namespace
}  // namespace saltus
