// log p and score of networks with weights -1 and +1 in one kernel that keeps the hidden units in
// registers, for shapes that fit there.
//
// A block of threads has one network and a part of the data, 16 rows at a time. With W' (units by
// features) as one operand of the tensor cores, pre-activations W' z come out as the layout in
// which their derivatives go in again, for the product with z that is the score: nothing but sums
// over all rows leaves the multiprocessor. Operands are of half precision, sums of single: weights
// are exact, and of the data two parts of 11 bits are used for pre-activations, one for the score.
#pragma once

#include <memory>

#include "saltus/cuda/memory.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus::cuda {

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

}  // namespace saltus::cuda
