// Tests that need an NVIDIA GPU, and say that they are skipped where there is none.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace saltus {

class CudaFixture : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no NVIDIA GPU here: " << cudaGetErrorString(status);
    }
  }
};

}  // namespace saltus
