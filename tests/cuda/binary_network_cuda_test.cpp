// Binary networks on the GPU against the host.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/binary_network/energy.hpp"
#include "cuda_fixture.hpp"
#include "made_up_regression.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/models.hpp"
#include "saltus/target/mini_batch.hpp"

namespace saltus::cuda {
namespace {

using CudaBinaryNetwork = CudaFixture;

struct Results {
  std::vector<double> logp;
  std::vector<float> score;
};

// By evaluate_at, with seed and step in device memory.
Results on_gpu(BinaryNetworkEnergy& energy, Rows<const Symbol> x, std::uint64_t seed = 0,
               std::uint64_t step = 0, bool score = true) {
  const auto rows = static_cast<std::size_t>(x.rows), dim = static_cast<std::size_t>(x.cols);
  std::vector<float> values;
  for (int r = 0; r < x.rows; ++r) values.insert(values.end(), x[r], x[r] + x.cols);
  const std::vector<std::uint64_t> at = {seed, step};
  const DeviceArray<float> device_values{std::span<const float>(values)};
  const DeviceArray<std::uint64_t> device_at{std::span<const std::uint64_t>(at)};
  DeviceArray<float> device_score(rows * dim);
  DeviceArray<double> device_logp(rows);
  energy.prepare(x.rows);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  // In two parts, of which the second is added to what is in memory.
  const std::uint64_t offset = step > 0 ? 1 : 0;
  if (offset) {
    const std::vector<std::uint64_t> less = {seed, step - 1};
    device_at.put(stream, less);
  }
  energy.evaluate_at(stream, {device_at.data(), device_at.data() + 1, offset}, device_values.data(),
                     x.rows, device_logp.data(), score ? device_score.data() : nullptr);
  Results out{std::vector<double>(rows), std::vector<float>(rows * dim)};
  device_logp.get(stream, out.logp);
  device_score.get(stream, out.score);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  cudaStreamDestroy(stream);
  return out;
}

struct Shape {
  int rows, features, hidden, networks;
  int batch = 0;
};

// Rows around a block of 32 and beyond a chunk; features around the padding; units likewise.
const std::vector<Shape> kShapes = {{1, 1, 1, 1},       {31, 3, 5, 2},      {32, 7, 128, 3},
                                    {33, 8, 129, 4},    {1000, 13, 500, 5}, {2000, 13, 500, 7},
                                    {300, 88, 500, 50}, {513, 276, 100, 6}, {300, 5, 1000, 2}};

// The data's two parts have 22 bits; then as on the host (tests/target/binary_network_test.cpp).
double logp_tolerance(const Shape& s, double temperature) {
  return temperature * 0.3 * 2e-6 * std::sqrt(s.hidden) * (1 + std::sqrt(s.features));
}

// The two factors of each of the score's terms are rounded to 11 bits: terms have errors of up to
// 2^-10, which add up like random ones.
double score_tolerance(const Shape& s, double temperature, double largest) {
  const int rows = s.batch ? s.batch : s.rows;
  const double slope = 4 * temperature * 0.15 / rows;
  return 4 * std::ldexp(1, -11) * slope * largest * std::sqrt(rows) +
         4 * logp_tolerance(s, temperature);
}

double largest_feature(const BinaryNetwork& network) {
  double largest = 1;
  for (const float v : network.rows().x) largest = std::max(largest, std::abs(double{v}));
  return largest;
}

using Way = BinaryNetworkEnergy::Way;

void compare(const Shape& s, Way way) {
  SCOPED_TRACE(testing::Message() << s.rows << " x " << s.features << " x " << s.hidden << ", "
                                  << s.networks << " networks, batch " << s.batch
                                  << (way == Way::fused ? ", fused" : ", products"));
  const double temperature = 100;
  const BinaryNetwork network(made_up_rows(s.rows, s.features), {s.hidden, temperature, s.batch});
  BinaryNetworkEnergy energy(network.rows(), network.options(), way);
  if (energy.fused() != (way == Way::fused)) return;  // does not fit there
  const int dim = network.domain().dim();
  const RowBuffer<Symbol> x = random_states(s.networks, dim);
  RowBuffer<double> score(s.networks, dim);
  std::vector<double> logp(static_cast<std::size_t>(s.networks));
  for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{5}}) {
    Scratch scratch;
    network.evaluate_exact({3, step, scratch}, x.view(), logp.data(), score.view());
    const Results gpu = on_gpu(energy, x.view(), 3, step);
    const Results again = on_gpu(energy, x.view(), 3, step);
    const Results alone = on_gpu(energy, x.view(), 3, step, false);
    EXPECT_EQ(gpu.logp, again.logp);
    EXPECT_EQ(gpu.score, again.score);
    const double tolerance = score_tolerance(s, temperature, largest_feature(network));
    for (int r = 0; r < s.networks; ++r) {
      const auto k = static_cast<std::size_t>(r);
      EXPECT_NEAR(gpu.logp[k], logp[k], logp_tolerance(s, temperature)) << r;
      EXPECT_NEAR(alone.logp[k], logp[k], logp_tolerance(s, temperature)) << r;
      for (int i = 0; i < dim; ++i) {
        ASSERT_NEAR(gpu.score[k * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)],
                    score.view()[r][i], tolerance)
            << r << " " << i;
      }
    }
  }
}

TEST_F(CudaBinaryNetwork, LogpAndScoreAreTheHosts) {
  for (const Shape& s : kShapes) compare(s, Way::products);
}

TEST_F(CudaBinaryNetwork, FusedLogpAndScoreAreTheHosts) {
  for (const Shape& s : kShapes) compare(s, Way::fused);
  compare({29, 16, 512, 1}, Way::fused);
  compare({500, 58, 500, 50}, Way::fused);
  compare({517, 280, 128, 3}, Way::fused);
  const BinaryNetwork network(made_up_rows(40, 88), {500, 100, 0});
  EXPECT_TRUE(BinaryNetworkEnergy(network.rows(), network.options()).fused());
}

TEST_F(CudaBinaryNetwork, MiniBatchesAreTheHosts) {
  compare({1000, 13, 500, 5, 10}, Way::products);
  compare({1000, 13, 500, 5, 500}, Way::products);
  compare({4887, 88, 100, 3, 100}, Way::products);
  compare({33, 3, 5, 2, 33}, Way::products);
}

TEST_F(CudaBinaryNetwork, FewerRowsThanPreparedFor) {
  const BinaryNetwork network(made_up_rows(3000, 13), {500, 100, 0});
  BinaryNetworkEnergy energy(network.rows(), network.options());
  const int dim = network.domain().dim();
  const RowBuffer<Symbol> x = random_states(20, dim);
  const Results all = on_gpu(energy, x.view());
  const Results one = on_gpu(energy, {x.view()[7], 1, dim, x.view().stride});
  const double tolerance = logp_tolerance({3000, 13, 500, 20}, 100);
  EXPECT_NEAR(one.logp[0], all.logp[7], tolerance);
}

TEST_F(CudaBinaryNetwork, TargetEvaluatesAndPredicts) {
  const Shape s{1000, 13, 500, 9};
  const BinaryNetwork network(made_up_rows(s.rows, s.features), {s.hidden, 100, 0});
  const auto target = on_device(network);
  const auto* predictions = dynamic_cast<const NetworkPredictions*>(target.get());
  ASSERT_TRUE(predictions);
  EXPECT_TRUE(target->on_device());
  EXPECT_FALSE(target->stochastic());
  const BinaryNetwork by_batches(network, {s.hidden, 100, 10});
  EXPECT_TRUE(on_device(by_batches)->stochastic());
  const RowBuffer<Symbol> x = random_states(s.networks, network.domain().dim());
  std::vector<double> logp(9), wanted(9);
  Scratch scratch;
  network.evaluate({0, 0, scratch}, x.view(), wanted.data(), {});
  target->evaluate({0, 0, scratch}, x.view(), logp.data(), {});
  for (std::size_t r = 0; r < 9; ++r) EXPECT_NEAR(logp[r], wanted[r], logp_tolerance(s, 100));
  ThreadPool pool(1);
  for (const std::uint32_t which : {1u, 2u, 1u}) {
    const RegressionRows other = made_up_rows(777, s.features, which);
    RowBuffer<float> f(s.networks, 777), exact(s.networks, 777);
    predictions->predict(x.view(), other, f.view(), pool);
    network.predict(x.view(), other, exact.view(), pool);
    for (int r = 0; r < s.networks; ++r) {
      for (int k = 0; k < 777; ++k) {
        ASSERT_NEAR(f.view()[r][k], exact.view()[r][k], logp_tolerance(s, 1)) << r << " " << k;
      }
    }
  }
  EXPECT_THROW(predictions->predict(x.view(), made_up_rows(5, 3), {}, pool), DataError);
}

}  // namespace
}  // namespace saltus::cuda
