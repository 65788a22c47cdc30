// A step of Adam for a residual network on a GPU, captured as one graph: forward, backward, update
// and average. Only with CUDA.
#pragma once

#include <memory>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/torch/module.hpp"
#include "torch/resnet_target.hpp"

namespace saltus {

class CudaResnetUpdate {
 public:
  // Changes the parameters of `current`, and of `averaged`, their moving average.
  CudaResnetUpdate(std::shared_ptr<const ResnetTensors> current,
                   std::shared_ptr<const ResnetTensors> averaged, const NetworkLearning& options);
  ~CudaResnetUpdate();

  // Descends the gradient of sum_r (weight_r f(x_r) + c |weight_r| f(x_r)^2), rows of `data` having
  // weight -1 / their number and rows of `samples` +1 / theirs; c is the energy penalty. Returns f
  // of all rows, data first.
  std::vector<float> operator()(Rows<const Symbol> data, Rows<const Symbol> samples, double rate);

  // What Adam remembers, as Adam writes it.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  struct Captured;
  void step(const at::Tensor& gradient, const at::Tensor& rates);

  std::shared_ptr<const ResnetTensors> current_, averaged_;
  NetworkLearning options_;
  std::uint64_t steps_ = 0;
  at::Tensor mean_, square_;  // of the gradient: Adam's moving averages
  std::unique_ptr<Captured> captured_;
};

}  // namespace saltus
