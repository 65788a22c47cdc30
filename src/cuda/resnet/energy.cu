#include "cuda/resnet/energy.hpp"

#include <cmath>

#include "cuda/resnet/kernel.cuh"
#include "cuda/resnet/layout.hpp"
#include "saltus/cuda/memory.hpp"

namespace saltus::cuda {

struct FusedResnet::Memory {
  DeviceArray<std::uint8_t> weights{std::size_t{resnet::Order::end} * resnet::kBlockBytes};
  DeviceArray<float> bias{resnet::Bias::count};
  DeviceArray<float> base_logit;
  DeviceArray<std::uint8_t> scratch;
};

bool FusedResnet::serves(const ResnetShape& shape) {
#ifdef SALTUS_HOPPER
  int device = 0, major = 0;
  return shape == ResnetShape{} && cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major == 9;
#else
  return false;
#endif
}

FusedResnet::FusedResnet(const ResnetEnergy& energy) : memory_(std::make_unique<Memory>()) {
  std::vector<float> logit;
  for (const double m : energy.base_mean) {
    logit.push_back(static_cast<float>(std::log(m) - std::log1p(-m)));
    base_constant_ += std::log1p(-m);
  }
  memory_->base_logit = DeviceArray<float>(std::span<const float>(logit));
  const DeviceArray<float> parameters{std::span<const float>(energy.parameters)};
  load(parameters.data());
}

FusedResnet::~FusedResnet() = default;

void FusedResnet::load(const float* parameters) {
  check(resnet::pack(parameters, memory_->weights.data(), memory_->bias.data(), nullptr),
        "packing the residual network");
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void FusedResnet::prepare(int rows) {
  memory_->scratch.grow(static_cast<std::size_t>(rows) * resnet::scratch_bytes_per_row());
}

void FusedResnet::evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                           float* score) {
  const resnet::Arguments arguments{memory_->weights.data(),
                                    memory_->bias.data(),
                                    memory_->base_logit.data(),
                                    base_constant_,
                                    values,
                                    rows,
                                    logp,
                                    score,
                                    reinterpret_cast<uint4*>(memory_->scratch.data())};
  check(resnet::launch(arguments, stream), "the residual network");
}

}  // namespace saltus::cuda
