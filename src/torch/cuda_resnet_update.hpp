// A step of Adam for a residual network on a GPU, captured as one graph: forward, backward, update
// and average. Only with CUDA.
#pragma once

#include <memory>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/torch/module.hpp"
#include "torch/resnet_target.hpp"

namespace saltus {

// What learning changes, all of one length.
struct LearnedTensors {
  std::shared_ptr<const ResnetTensors> current, averaged;
  at::Tensor mean, square;  // of the gradient: Adam's moving averages
};

class CudaResnetUpdate {
 public:
  CudaResnetUpdate(const LearnedTensors& learned, const NetworkLearning& options);
  ~CudaResnetUpdate();

  // Descends the gradient of sum_r (weight_r f(x_r) + c |weight_r| f(x_r)^2), rows of `data` having
  // weight -1 / their number and rows of `samples` +1 / theirs; c is the energy penalty. `step`
  // counts from 1. Returns f of all rows, data first.
  std::vector<float> operator()(Rows<const Symbol> data, Rows<const Symbol> samples, double rate,
                                std::uint64_t step);

 private:
  struct Captured;
  LearnedTensors learned_;
  NetworkLearning options_;
  std::unique_ptr<Captured> captured_;
};

}  // namespace saltus
