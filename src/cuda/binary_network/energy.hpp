// log p and score of networks with weights -1 and +1 (see saltus/target/binary_network.hpp) on the
// GPU, by one of two ways: a kernel that does everything (binary_network_fused.hpp), where it can
// serve, or products by cuBLAS with kernels between them.
//
// Of the latter: chunks of data rows, small enough for the cache, pass by: pre-activations of all
// networks' units by one product, then in place their derivatives, then the product that adds to
// the score. Products are of TF32. For pre-activations the data are split into two parts of 11
// bits, and the weights are exact: they, and log p, are of single precision. The score is of TF32,
// which only proposals feel. All sums are taken in a fixed order.
#pragma once

#include <cublas_v2.h>

#include "cuda/binary_network/fused.hpp"
#include "saltus/cuda/device_energy.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus::cuda {

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

}  // namespace saltus::cuda
