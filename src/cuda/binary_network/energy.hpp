// log p and score of networks with weights -1 and +1 (see saltus/target/binary_network.hpp) on the
// GPU, by one of two ways: a kernel that does everything (FusedNetwork), where it can serve, or
// products by cuBLAS with kernels between them.
//
// Of the latter: chunks of data rows, small enough for the cache, pass by: pre-activations of all
// networks' units by one product, then in place their derivatives, then the product that adds to
// the score. Products are of TF32. For pre-activations the data are split into two parts of 11
// bits, and the weights are exact: they, and log p, are of single precision. The score is of TF32,
// which only proposals feel. All sums are taken in a fixed order.
#pragma once

#include <cublas_v2.h>

#include "cuda/chains/team.hpp"
#include "saltus/cuda/device_energy.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus::cuda {

inline std::size_t size(int n) {
  return static_cast<std::size_t>(n);
}

#ifdef __CUDACC__
inline constexpr int kThreads = kTeam;

// (1 - e) / (1 + e), e = exp(-2 |a|), off by about 1e-7.
inline __device__ float tanh_of(float a) {
  const float e = __expf(-2 * fabsf(a));
  return copysignf(__fdividef(1 - e, 1 + e), a);
}
#endif

// log p and score of networks with weights -1 and +1 in one kernel that keeps the hidden units in
// registers, for shapes that fit there.
//
// A block of threads has one network and a part of the data, 16 rows at a time. With W' (units by
// features) as one operand of the tensor cores, pre-activations W' z come out as the layout in
// which their derivatives go in again, for the product with z that is the score: nothing but sums
// over all rows leaves the multiprocessor. Operands are of half precision, sums of single: weights
// are exact, and of the data two parts of 11 bits are used for pre-activations, one for the score.
class FusedNetwork {
 public:
  // Nothing when the shape does not fit, or the data are beyond half precision.
  static std::unique_ptr<FusedNetwork> make(const RegressionRows& rows,
                                            const BinaryNetworkOptions& options);

  void prepare(int networks);
  // As DeviceEnergy::evaluate.
  void run(cudaStream_t stream, const float* values, int networks, double* logp, float* score);

 private:
  struct Kind;  // an instance of the kernel
  FusedNetwork(const RegressionRows& rows, const BinaryNetworkOptions& options, const Kind& kind);
  static const Kind* kind_for(const BinaryNetworkShape& shape);
  int parts(int networks) const;  // of the data

  BinaryNetworkShape shape_;
  double temperature_;
  int rows_, tiles_, multiprocessors_ = 1;
  const Kind& kind_;
  DeviceArray<unsigned char> data_;  // tile after tile, as they lie in shared memory
  DeviceArray<float> gradient_;      // (parts, networks, units, features)
  DeviceArray<float> unit_sums_;     // (parts, networks, 2, units): by b1, by w2
  DeviceArray<double> sums_;         // (parts, networks, 2): squared errors, slopes
};

class BinaryNetworkEnergy final : public DeviceEnergy {
 public:
  enum class Way { products, fused };  // fused: where it can serve

  // Throws UsageError for networks with more than 1024 hidden units.
  BinaryNetworkEnergy(const RegressionRows& rows, const BinaryNetworkOptions& options,
                      Way way = Way::fused);
  ~BinaryNetworkEnergy() override;
  BinaryNetworkEnergy(const BinaryNetworkEnergy&) = delete;
  BinaryNetworkEnergy& operator=(const BinaryNetworkEnergy&) = delete;

  bool stochastic() const override { return options_.batch > 0; }
  bool fused() const { return fused_ != nullptr; }
  void prepare(int rows) override;
  // With a mini-batch: that of seed 0 and step 0.
  void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                float* score) override;
  void evaluate_at(cudaStream_t stream, const DeviceAt& at, const float* values, int rows,
                   double* logp, float* score) override;

  // f at every row of data, in rows of as many entries: networks times data rows. By products only.
  void predict(cudaStream_t stream, const float* values, int rows, float* out);

 private:
  struct Wanted {
    double* logp = nullptr;
    float *score = nullptr, *predictions = nullptr;
  };
  int used_rows() const { return stochastic() ? options_.batch : rows_; }
  int units(int networks) const { return networks * stride_; }
  int chunk_rows(int networks) const;
  void make_room(int networks);
  void run(cudaStream_t stream, const DeviceAt& at, const float* values, int networks,
           const Wanted& wanted);
  void products_on(cudaStream_t stream);

  BinaryNetworkOptions options_;
  BinaryNetworkShape shape_;
  int rows_;    // of data
  int stride_;  // hidden units with padding
  int depth_;   // features and the bias, with padding
  int room_ = 0;
  std::unique_ptr<FusedNetwork> fused_;
  cublasHandle_t products_ = nullptr;

  DeviceArray<float> data_, y_;          // rows of both parts, 2 depth entries; targets
  DeviceArray<float> batch_, batch_y_;   // the same of a mini-batch
  DeviceArray<std::uint32_t> drawn_;     // its rows
  DeviceArray<std::uint64_t> nowhere_;   // seed and step where none is given
  DeviceArray<float> weights_, second_;  // (2 depth, networks, stride); (networks, stride)
  DeviceArray<float> units_, gradient_;  // (chunk, networks, stride); (depth, networks, stride)
  DeviceArray<float> second_parts_;      // of the score by w2, by block of data rows
  DeviceArray<double> parts_;            // of log p and of the score by b2, likewise
  DeviceArray<std::byte> workspace_;     // of the products
};

// The same distribution as a network on the host; it is a NetworkPredictions, too.
std::unique_ptr<Target> binary_network_on_cuda(const BinaryNetwork& network);

}  // namespace saltus::cuda
