// The gradient of a residual network as a GPU computes it, step by step, by plain loops.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/resnet/gradient/passes.hpp"
#include "cuda/resnet/gradient/steps.hpp"
#include "saltus/core/philox.hpp"
#include "torch/plain_resnet.hpp"

namespace saltus::cuda::resnet {
namespace {

std::size_t size(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

// Does what the kernels and products of gradient.cu do.
class Loops final : public GradientMachine {
 public:
  Loops(const ResnetEnergy& energy, int images, std::vector<float> weights, float penalty)
      : plan_(energy.shape),
        parameters_(energy.parameters),
        weights_(std::move(weights)),
        penalty_(penalty),
        matrices_(size(plan_.matrices)),
        matrix_slopes_(size(plan_.matrices)),
        f(size(images)),
        gradient(parameters_.size(), NAN) {
    const int channels = plan_.shape.channels;
    a_.images = images;
    a_.stem = map(plan_.stem().out_places(images), channels);
    a_.stem_slope = map(plan_.stem().out_places(images), channels);
    for (int k = 0; k < plan_.shape.blocks; ++k) {
      a_.z_and_s.push_back(map(plan_.first(k).out_places(images), 2 * channels));
      a_.slopes.push_back(map(plan_.first(k).out_places(images), 2 * channels));
    }
    std::int64_t largest = 0;
    for (const Convolution& c : plan_.convolutions) {
      a_.patches.push_back(take(c.out_places(images) * c.depth));
      largest = std::max(largest, c.out_places(images) * c.depth);
    }
    a_.patch_slopes = take(largest);
  }

  void run(std::vector<float>& pixels) {
    a_.pixels = {pixels.data(), 1};
    differentiate(*this, plan_, a_);
  }

  void pack() override {
    each_parameter(
        [&](std::size_t at, std::int64_t p) { matrices_[at] = p >= 0 ? parameters_[size(p)] : 0; });
  }
  void unpack() override {
    each_parameter([&](std::size_t at, std::int64_t p) {
      if (p >= 0) gradient[size(p)] = matrix_slopes_[at];
    });
  }
  void gather(const Convolution& c, Map input, float* patches) override {
    for (std::int64_t m = 0; m < c.out_places(a_.images); ++m) {
      for (int k = 0; k < c.depth; ++k) {
        float v = k == kTaps3x3 * c.in;
        if (k < kTaps3x3 * c.in) {
          const std::int64_t place = place_under(c, m, k / c.in);
          v = place < 0 ? 0 : input.data[place * input.stride + k % c.in];
          if (c.swish) v = swish(v);
        }
        patches[m * c.depth + k] = v;
      }
    }
  }
  void convolve(const Convolution& c, const float* patches, Map to, bool add) override {
    for (std::int64_t m = 0; m < c.out_places(a_.images); ++m) {
      for (int o = 0; o < c.out(); ++o) {
        double sum = add ? double{to.data[m * to.stride + o]} : 0;
        for (int k = 0; k < c.depth; ++k) {
          sum += double{patches[m * c.depth + k]} * double{weight(c, k, o)};
        }
        to.data[m * to.stride + o] = static_cast<float>(sum);
      }
    }
  }
  void activate(const Convolution& c, Map from, Map to) override {
    for (std::int64_t place = 0; place < c.in_places(a_.images); ++place) {
      for (int channel = 0; channel < c.in; ++channel) {
        const float v = from.data[place * from.stride + channel];
        to.data[place * to.stride + channel] = c.swish ? swish(v) : v;
      }
    }
  }
  void read_out(Map s, Map slope) override {
    const int channels = plan_.shape.channels, places = static_cast<int>(plan_.last_places(1));
    const float *weight = &parameters_[size(plan_.readout_weight)],
                bias = parameters_[size(plan_.readout_bias)];
    for (int c = 0; c <= channels; ++c) gradient[size(plan_.readout_weight + c)] = 0;
    for (int row = 0; row < a_.images; ++row) {
      std::vector<float> mean(size(channels));
      float& value = f[size(row)] = bias;
      for (int c = 0; c < channels; ++c) {
        for (int p = 0; p < places; ++p) {
          mean[size(c)] += swish(s.data[(row * places + p) * s.stride + c]) / float(places);
        }
        value += weight[c] * mean[size(c)];
      }
      const float g = slope_of_loss(weights_[size(row)], penalty_, value);
      gradient[size(plan_.readout_bias)] += g;
      for (int c = 0; c < channels; ++c) {
        gradient[size(plan_.readout_weight + c)] += g * mean[size(c)];
        for (int p = 0; p < places; ++p) {
          const int m = row * places + p;
          slope.data[m * slope.stride + c] =
              g * weight[c] / float(places) * swish_slope(s.data[m * s.stride + c]);
        }
      }
    }
  }
  void slope_of_weights(const Convolution& c, const float* patches, Map slope) override {
    for (int k = 0; k < c.depth; ++k) {
      for (int o = 0; o < c.out(); ++o) {
        double sum = 0;
        for (std::int64_t m = 0; m < c.out_places(a_.images); ++m) {
          sum += double{patches[m * c.depth + k]} * double{slope.data[m * slope.stride + o]};
        }
        matrix_slopes_[size(c.matrix + std::int64_t{k} * c.out() + o)] = static_cast<float>(sum);
      }
    }
  }
  void slope_of_patches(const Convolution& c, Map slope, float* patch_slopes) override {
    for (std::int64_t m = 0; m < c.out_places(a_.images); ++m) {
      for (int k = 0; k < c.depth; ++k) {
        double sum = 0;
        for (int o = 0; o < c.out(); ++o) {
          sum += double{slope.data[m * slope.stride + o]} * double{weight(c, k, o)};
        }
        patch_slopes[m * c.depth + k] = static_cast<float>(sum);
      }
    }
  }
  void scatter(const Convolution& c, const float* patch_slopes, Map beside, Map input,
               Map to) override {
    for (std::int64_t place = 0; place < c.in_places(a_.images); ++place) {
      for (int channel = 0; channel < c.in; ++channel) {
        float sum = beside.data ? beside.data[place * beside.stride + channel] : 0;
        for (int tap = 0; tap < kTaps3x3; ++tap) {
          const std::int64_t m = place_above(c, place, tap);
          if (m >= 0) sum += patch_slopes[m * c.depth + tap * c.in + channel];
        }
        if (c.swish) sum *= swish_slope(input.data[place * input.stride + channel]);
        to.data[place * to.stride + channel] = sum;
      }
    }
  }

 private:
  float* take(std::int64_t entries) { return memory_.emplace_back(size(entries), NAN).data(); }
  Map map(std::int64_t places, int width) { return {take(places * width), width}; }
  float weight(const Convolution& c, int k, int o) const {
    return matrices_[size(c.matrix + std::int64_t{k} * c.out() + o)];
  }
  template <class Visit>
  void each_parameter(const Visit& visit) const {
    for (const Convolution& c : plan_.convolutions) {
      for (int k = 0; k < c.depth; ++k) {
        for (int o = 0; o < c.out(); ++o) {
          visit(size(c.matrix + std::int64_t{k} * c.out() + o), parameter_of(c, k, o));
        }
      }
    }
  }

  GradientPlan plan_;
  std::vector<float> parameters_, weights_;
  float penalty_;
  GradientArrays a_;
  std::vector<std::vector<float>> memory_;
  std::vector<float> matrices_, matrix_slopes_;

 public:
  std::vector<float> f, gradient;
};

// f alone: the base's part of log p is that of 1/2 for every pixel.
double plain_f(const PlainResnet& network, const std::vector<double>& x) {
  return network.logp(x) + static_cast<double>(x.size()) * std::log(2.0);
}

void check_gradient(const ResnetShape& shape) {
  constexpr int kImages = 3;
  const std::vector<float> weights = {-0.5f, 0.7f, 0.3f};
  constexpr float kPenalty = 0.05f;
  const auto pixels = size(shape.pixels());
  const ResnetEnergy energy = ResnetEnergy::random(shape, std::vector<double>(pixels, 0.5), 5);
  std::vector<float> x(kImages * pixels);
  const Stream stream(3, 0, 0, Purpose::check);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = stream.uniform(static_cast<std::uint32_t>(i)) < 0.4;
  }
  Loops loops(energy, kImages, weights, kPenalty);
  loops.run(x);

  PlainResnet plain(energy);
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t r = 0; r < kImages; ++r) {
      const auto row = x.begin() + static_cast<std::ptrdiff_t>(r * pixels);
      const double f = plain_f(plain, {row, row + static_cast<std::ptrdiff_t>(pixels)});
      EXPECT_NEAR(loops.f[r], f, 1e-2);  // far from it where parameters are changed below
      sum += double{weights[r]} * f + double{kPenalty} * std::abs(double{weights[r]}) * f * f;
    }
    return sum;
  };
  loss();
  double largest = 0;
  for (const float g : loops.gradient) largest = std::max(largest, std::abs(double{g}));
  ASSERT_GT(largest, 0.01);
  for (std::size_t k = 0; k < plain.parameters().size(); ++k) {
    const double before = plain.parameters()[k];
    double values[2];
    for (const int side : {0, 1}) {
      plain.parameters()[k] = before + (side ? 1e-4 : -1e-4);
      values[side] = loss();
    }
    plain.parameters()[k] = before;
    ASSERT_NEAR(loops.gradient[k], (values[1] - values[0]) / 2e-4, 2e-5 * largest) << k;
  }
}

TEST(ResnetGradient, IsThatOfDifferences) {
  check_gradient({.height = 6, .width = 6, .channels = 4, .blocks = 3, .halvings = 2});
}
TEST(ResnetGradient, OfOddSizes) {
  check_gradient({.height = 7, .width = 5, .channels = 4, .blocks = 2, .halvings = 2});
}
TEST(ResnetGradient, WithoutHalvings) {
  check_gradient({.height = 4, .width = 3, .channels = 4, .blocks = 2, .halvings = 0});
}
TEST(ResnetGradient, OfOneBlock) {
  check_gradient({.height = 4, .width = 4, .channels = 8, .blocks = 1, .halvings = 1});
}

TEST(ResnetGradient, EveryParameterHasItsPlace) {
  for (const int halvings : {0, 1, 3}) {
    const ResnetShape shape{
        .height = 9, .width = 8, .channels = 4, .blocks = 3, .halvings = halvings};
    const GradientPlan plan(shape);
    std::vector<int> seen(parameter_count(shape));
    for (const Convolution& c : plan.convolutions) {
      for (int k = 0; k < c.depth; ++k) {
        for (int o = 0; o < c.out(); ++o) {
          if (const std::int64_t p = parameter_of(c, k, o); p >= 0) ++seen.at(size(p));
        }
      }
    }
    for (int c = 0; c < shape.channels; ++c) ++seen.at(size(plan.readout_weight + c));
    ++seen.at(size(plan.readout_bias));
    for (const int n : seen) ASSERT_EQ(n, 1);
  }
  EXPECT_TRUE(GradientPlan::serves({}));
  EXPECT_FALSE(GradientPlan::serves({.channels = 6}));
  EXPECT_FALSE(GradientPlan::serves({.blocks = 0, .halvings = 0}));
}

}  // namespace
}  // namespace saltus::cuda::resnet
