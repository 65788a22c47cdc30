// The steps of a gradient in their order, for a machine that can do each of them.
#pragma once

#include <vector>

#include "cuda/resnet/gradient/plan.hpp"

namespace saltus::cuda::resnet {

// Channels of a map, as columns `first` and following of an array with rows of `stride`.
struct Map {
  float* data = nullptr;
  int stride = 0;

  Map from(int first) const { return {data + first, stride}; }
};

// What is kept from the way forward for the way back. Of a block, z is what its first convolution
// gives and s what its swish is taken of; they lie side by side, and so do the slopes of the loss
// by them.
struct GradientArrays {
  int images = 0;
  Map pixels, stem, stem_slope;
  std::vector<Map> z_and_s, slopes;  // by block
  std::vector<float*> patches;       // by convolution
  float* patch_slopes = nullptr;     // of one convolution at a time
};

class GradientMachine {
 public:
  virtual ~GradientMachine() = default;

  // Matrices of weights from the parameters, and the gradient from matrices of slopes.
  virtual void pack() = 0;
  virtual void unpack() = 0;

  virtual void gather(const Convolution& c, Map input, float* patches) = 0;
  // to = patches x weights, or to + that.
  virtual void convolve(const Convolution& c, const float* patches, Map to, bool add) = 0;
  virtual void activate(const Convolution& c, Map from, Map to) = 0;  // of c's input, as c sees it
  // f of all images, and the slopes by s of the last block; the gradient of the read-out.
  virtual void read_out(Map s, Map slope) = 0;
  // Slopes by the weights, and by the patches.
  virtual void slope_of_weights(const Convolution& c, const float* patches, Map slope) = 0;
  virtual void slope_of_patches(const Convolution& c, Map slope, float* patch_slopes) = 0;
  // Slopes by the input from those by its patches, and from `beside`, where that is given.
  virtual void scatter(const Convolution& c, const float* patch_slopes, Map beside, Map input,
                       Map to) = 0;
};

inline void differentiate(GradientMachine& m, const GradientPlan& plan, const GradientArrays& a) {
  const int channels = plan.shape.channels, blocks = plan.shape.blocks;
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  const auto s_of = [&](int k) { return k < 0 ? a.stem : a.z_and_s[at(k)].from(channels); };
  const auto slope_of_s = [&](int k) {
    return k < 0 ? a.stem_slope : a.slopes[at(k)].from(channels);
  };
  m.pack();
  m.gather(plan.stem(), a.pixels, a.patches[0]);
  m.convolve(plan.stem(), a.patches[0], a.stem, false);
  for (int k = 0; k < blocks; ++k) {
    const Convolution &first = plan.first(k), &second = plan.second(k);
    float *const seen = a.patches[at(1 + 2 * k)], *const seen_second = a.patches[at(2 + 2 * k)];
    m.gather(first, s_of(k - 1), seen);
    m.convolve(first, seen, a.z_and_s[at(k)], false);  // and the shortcut, where it has weights
    if (!first.shortcut) m.activate(first, s_of(k - 1), s_of(k));
    m.gather(second, a.z_and_s[at(k)], seen_second);
    m.convolve(second, seen_second, s_of(k), true);
  }
  m.read_out(s_of(blocks - 1), slope_of_s(blocks - 1));
  for (int k = blocks - 1; k >= 0; --k) {
    const Convolution &first = plan.first(k), &second = plan.second(k);
    const Map slopes = a.slopes[at(k)];
    m.slope_of_weights(second, a.patches[at(2 + 2 * k)], slope_of_s(k));
    m.slope_of_patches(second, slope_of_s(k), a.patch_slopes);
    m.scatter(second, a.patch_slopes, {}, a.z_and_s[at(k)], slopes);
    m.slope_of_weights(first, a.patches[at(1 + 2 * k)], slopes);
    m.slope_of_patches(first, slopes, a.patch_slopes);
    m.scatter(first, a.patch_slopes, first.shortcut ? Map{} : slope_of_s(k), s_of(k - 1),
              slope_of_s(k - 1));
  }
  m.slope_of_weights(plan.stem(), a.patches[0], a.stem_slope);
  m.unpack();
}

}  // namespace saltus::cuda::resnet
