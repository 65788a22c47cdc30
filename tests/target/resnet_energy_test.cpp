#include "saltus/target/resnet_energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

TEST(ResnetEnergy, OfThePaperHas599873Parameters) {
  EXPECT_EQ(parameter_count({}), 599'873u);
  const auto arrays = parameter_arrays({});
  std::size_t end = 0;
  for (const ParameterArray& a : arrays) {
    EXPECT_EQ(a.begin, end) << a.name;
    std::size_t size = 1;
    for (const int n : a.shape) size *= static_cast<std::size_t>(n);
    EXPECT_EQ(a.size, size) << a.name;
    end += a.size;
  }
  EXPECT_EQ(end, 599'873u);
  EXPECT_EQ(arrays.size(), 2u + 2 * 6 + 6 * 4 + 2);
  EXPECT_EQ(arrays[0].name, "stem.weight");
  EXPECT_EQ(arrays[0].fan_in, 9);
  EXPECT_EQ(arrays[6].name, "block0.shortcut.weight");
  EXPECT_EQ(arrays[6].fan_in, 64);
  EXPECT_EQ(arrays[7].fan_in, 64);  // a bias has its layer's
  EXPECT_EQ(arrays.back().name, "readout.bias");
}

TEST(ResnetEnergy, StartsUniformlyWithinTheBoundOfEachLayer) {
  const ResnetEnergy energy = ResnetEnergy::random({}, std::vector<double>(784, 0.5), 7);
  for (const ParameterArray& a : parameter_arrays({})) {
    const double bound = 1 / std::sqrt(a.fan_in);
    double sum = 0, squares = 0, largest = 0;
    for (std::size_t i = a.begin; i < a.begin + a.size; ++i) {
      const double p = energy.parameters[i] / bound;
      sum += p;
      squares += p * p;
      largest = std::max(largest, std::abs(p));
    }
    const auto n = static_cast<double>(a.size);
    EXPECT_LE(largest, 1 + 1e-6) << a.name;
    // Mean 0 and second moment 1/3 with standard deviations sqrt(1/3) and sqrt(4/45) over sqrt(n).
    EXPECT_LT(std::abs(sum / n), 5 * std::sqrt(1 / (3 * n))) << a.name;
    EXPECT_LT(std::abs(squares / n - 1.0 / 3), 5 * std::sqrt(4 / (45 * n))) << a.name;
  }
  EXPECT_EQ(energy.parameters,
            ResnetEnergy::random({}, std::vector<double>(784, 0.5), 7).parameters);
  EXPECT_NE(energy.parameters,
            ResnetEnergy::random({}, std::vector<double>(784, 0.5), 8).parameters);
}

TEST(ResnetEnergy, ThatDoesNotFitIsRefused) {
  const ResnetShape shape{3, 3, 2, 1, 1};
  EXPECT_THROW(ResnetEnergy::random(shape, std::vector<double>(8, 0.5), 1), DataError);
  EXPECT_THROW(ResnetEnergy::random(shape, std::vector<double>(9, 0), 1), DataError);
  EXPECT_THROW(parameter_count({3, 3, 2, 1, 2}), DataError);
  EXPECT_THROW(parameter_count({0, 3, 2, 1, 1}), DataError);
  ResnetEnergy energy = ResnetEnergy::random(shape, std::vector<double>(9, 0.5), 1);
  EXPECT_NO_THROW(check(energy));
  energy.parameters[5] = NAN;
  EXPECT_THROW(check(energy), DataError);
  energy.parameters.pop_back();
  EXPECT_THROW(check(energy), DataError);
}

}  // namespace
}  // namespace saltus
