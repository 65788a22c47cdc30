// The description of a residual-network energy of binary images, with its parameters:
//
//   log p(x) = f(x) + sum_i [x_i log m_i + (1 - x_i) log(1 - m_i)] + constant.
//
// f: convolution 3 x 3 from one channel to C (padding 1, no activation), then blocks
//   y = swish(conv3x3(swish(conv3x3(x))) + shortcut(x)),
// of which the first `halvings` have stride 2 in their first convolution and a 1 x 1 convolution of
// stride 2 as shortcut (otherwise it is the identity), the mean over all places, and a linear
// read-out. The paper's network has C = 64, eight blocks, two halvings and 28 x 28 pixels: 599,873
// parameters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace saltus {

struct ResnetShape {
  int height = 28, width = 28;
  int channels = 64, blocks = 8, halvings = 2;

  int pixels() const { return height * width; }
  bool operator==(const ResnetShape&) const = default;
};

// One parameter array, in the order in which they lie in ResnetEnergy::parameters: stem.weight,
// stem.bias, then for each block k block<k>.first.weight, .first.bias, .second.weight,
// .second.bias and, where there is one, .shortcut.weight, .shortcut.bias, then readout.weight,
// readout.bias. Weights are (out, in, height, width), as PyTorch has them.
struct ParameterArray {
  std::string name;
  std::vector<int> shape;
  std::size_t begin, size;
  int fan_in;  // of the layer: in * height * width
};
std::vector<ParameterArray> parameter_arrays(const ResnetShape& shape);
std::size_t parameter_count(const ResnetShape& shape);

struct ResnetEnergy {
  ResnetShape shape;
  std::vector<float> parameters;
  std::vector<double> base_mean;  // m, one for each pixel, strictly between 0 and 1

  // Weights and biases uniform in +-1/sqrt(fan_in), a function of the seed.
  static ResnetEnergy random(const ResnetShape& shape, std::vector<double> base_mean,
                             std::uint64_t seed);
};

// Throws DataError when sizes or values do not fit.
void check(const ResnetEnergy& energy);

}  // namespace saltus
