// The network of a ResnetEnergy written out in loops, in double precision, at any real values.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "saltus/target/resnet_energy.hpp"

namespace saltus {

class PlainResnet {
 public:
  PlainResnet(const ResnetShape& shape, std::vector<double> parameters,
              std::vector<double> base_mean)
      : shape_(shape), parameters_(std::move(parameters)), mean_(std::move(base_mean)) {}
  explicit PlainResnet(const ResnetEnergy& e)
      : PlainResnet(e.shape, {e.parameters.begin(), e.parameters.end()}, e.base_mean) {}

  std::vector<double>& parameters() { return parameters_; }

  double logp(const std::vector<double>& x) const {
    double sum = network(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += x[i] * std::log(mean_[i]) + (1 - x[i]) * std::log(1 - mean_[i]);
    }
    return sum;
  }

 private:
  struct Image {
    int channels, height, width;
    std::vector<double> values;
    double at(int c, int i, int j) const {
      if (i < 0 || j < 0 || i >= height || j >= width) return 0;
      return values[static_cast<std::size_t>((c * height + i) * width + j)];
    }
  };

  const double* array(const std::string& name) const {
    for (const ParameterArray& a : parameter_arrays(shape_)) {
      if (a.name == name) return parameters_.data() + a.begin;
    }
    throw std::logic_error(name);
  }

  Image convolve(const Image& x, const std::string& layer, int size, int stride) const {
    const double *weight = array(layer + ".weight"), *bias = array(layer + ".bias");
    Image y{shape_.channels, (x.height + stride - 1) / stride, (x.width + stride - 1) / stride, {}};
    for (int o = 0; o < y.channels; ++o) {
      for (int i = 0; i < y.height; ++i) {
        for (int j = 0; j < y.width; ++j) {
          double sum = bias[o];
          for (int c = 0; c < x.channels; ++c) {
            for (int p = 0; p < size; ++p) {
              for (int q = 0; q < size; ++q) {
                sum += weight[((o * x.channels + c) * size + p) * size + q] *
                       x.at(c, i * stride + p - size / 2, j * stride + q - size / 2);
              }
            }
          }
          y.values.push_back(sum);
        }
      }
    }
    return y;
  }

  static Image swish(Image x) {
    for (double& v : x.values) v /= 1 + std::exp(-v);
    return x;
  }

  double network(const std::vector<double>& x) const {
    Image y = convolve({1, shape_.height, shape_.width, x}, "stem", 3, 1);
    for (int k = 0; k < shape_.blocks; ++k) {
      const std::string block = "block" + std::to_string(k);
      const int stride = k < shape_.halvings ? 2 : 1;
      Image inner =
          convolve(swish(convolve(y, block + ".first", 3, stride)), block + ".second", 3, 1);
      const Image beside = stride == 2 ? convolve(y, block + ".shortcut", 1, 2) : y;
      for (std::size_t n = 0; n < inner.values.size(); ++n) inner.values[n] += beside.values[n];
      y = swish(inner);
    }
    double out = array("readout.bias")[0];
    const int places = y.height * y.width;
    for (int c = 0; c < y.channels; ++c) {
      double sum = 0;
      for (int n = 0; n < places; ++n) sum += y.values[static_cast<std::size_t>(c * places + n)];
      out += array("readout.weight")[c] * sum / places;
    }
    return out;
  }

  ResnetShape shape_;
  std::vector<double> parameters_, mean_;
};

}  // namespace saltus
