// The fused kernel of the residual network, and how its weight blocks and biases lie in memory.
//
// The network (saltus/target/resnet_energy.hpp) has 64 channels, 28 x 28 pixels and eight blocks,
// of which the first two halve the image. Two identities make it small:
//
//   The first convolution has no activation, so it is composed with the first block's two
//   convolutions of stride 2: both are linear in a patch of 5 x 5 pixels. At the upper and left
//   border the first convolution's padded row or column is to be left out of it again, which needs
//   15 more numbers: the patch vector has kPatch entries (see patch_entry in kernel.cu).
//
//   The gradient by the input of a convolution is a convolution with the weights turned round. So
//   all is products of 64 x 64 blocks of weights, one per tap, read in a fixed order.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace saltus::cuda::resnet {

inline constexpr int kChannels = 64, kBlocks = 8, kSide = 28, kPixels = kSide * kSide;
inline constexpr int kTaps = 9;
inline constexpr int kPatch = 48;

// Activations are held times this, and biases with them: at most 6.7e7, and rounded to parts of
// 2^-11 or to 3e-5, whichever is more.
inline constexpr float kActivationScale = 1.0f / 1024;

// A weight block: the operand B of a product, N rows of K entries in half precision, stored as K /
// 8 slices of N rows of 8 entries. All blocks have room for 64 x 64.
inline constexpr int kBlockBytes = 64 * 64 * 2;

// Entries of the patch vector.
inline constexpr int kTop = 26, kTopOne = 31, kLeft = 32, kLeftOne = 37, kCorner = 38,
                     kCornerOne = 39;

// The order of the blocks.
struct Order {
  static constexpr int patch_first = 0;     // N = 64, K = kPatch
  static constexpr int patch_shortcut = 1;  // N = 64, K = kPatch
  static constexpr int second0 = 2;
  static constexpr int first1 = second0 + kTaps;
  static constexpr int shortcut1 = first1 + kTaps;
  static constexpr int second1 = shortcut1 + 1;
  static constexpr int tail = second1 + kTaps;  // blocks 2 to 7: first, second
  static constexpr int forward_end = tail + (kBlocks - 2) * 2 * kTaps;
  // The way back: blocks 7 to 2: second, first; all of them turned round.
  static constexpr int back_tail = forward_end;
  static constexpr int back_second1 = back_tail + (kBlocks - 2) * 2 * kTaps;
  static constexpr int back_first1 = back_second1 + kTaps;  // in the order of kBackTaps
  static constexpr int back_shortcut1 = back_first1 + kTaps;
  static constexpr int back_second0 = back_shortcut1 + 1;
  static constexpr int back_patch_shortcut = back_second0 + kTaps;  // N = kPatch, K = 64
  static constexpr int back_patch_first = back_patch_shortcut + 1;  // N = kPatch, K = 64
  static constexpr int end = back_patch_first + 1;
};

// The gradient by the input of a 3 x 3 convolution of stride 2, by the parity (row, column) of the
// place in the input: which tap of the weights, and how far on in the output (0 or 1) it acts.
struct BackTap {
  int row, column;  // of the weights
  int down, right;  // in the output's gradient
};
inline constexpr BackTap kBackTaps[kTaps] = {
    {1, 1, 0, 0},                                            // even, even
    {1, 0, 0, 1}, {1, 2, 0, 0},                              // even, odd
    {0, 1, 1, 0}, {2, 1, 0, 0},                              // odd, even
    {0, 0, 1, 1}, {0, 2, 1, 0}, {2, 0, 0, 1}, {2, 2, 0, 0},  // odd, odd
};

// Rows of 64 numbers in single precision: the bias of each convolution (that of a shortcut added to
// the convolution it is added to), then the read-out's weights and, in one more number, its bias.
struct Bias {
  static constexpr int patch_first = 0, second0 = 1;  // then first1, second1, first2, ...
  static constexpr int readout = 2 * kBlocks;
  static constexpr int rows = readout + 1;
  static constexpr int count = rows * kChannels + 1;
};

// f and its gradient, one image per thread block.
struct Arguments {
  const std::uint8_t* weights;  // Order::end blocks
  const float* bias;            // Bias::count numbers
  const float* base_logit;      // kPixels
  double base_constant;
  const float* values;  // rows of kPixels
  int rows;
  double* logp;    // null: not wanted
  float* score;    // rows of kPixels; null: not wanted
  uint4* scratch;  // scratch_bytes_per_row() for each row, where a score is wanted
};

std::size_t scratch_bytes_per_row();
cudaError_t launch(const Arguments& arguments, cudaStream_t stream);

}  // namespace saltus::cuda::resnet
