// The registry of models that have a version on the GPU. Finding one needs no GPU.
#include "saltus/cuda/models.hpp"

#include <gtest/gtest.h>

#include "cuda_fixture.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/check.hpp"
#include "saltus/cuda/module.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus::cuda {
namespace {

std::string refusal(const Target& target) {
  try {
    on_device(target);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

Rbm small_rbm() {
  return Rbm({0.5, -0.25, 1, 0, 2, -1}, {0.1, 0.2, 0.3}, {0, 0.5});
}

bool gpu_here() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

TEST(CudaModels, NamesThoseThatHaveAVersion) {
  const std::string words = refusal(Poisson({1.0, 2.0}));
  EXPECT_NE(words.find("poisson has no version"), std::string::npos) << words;
  EXPECT_NE(words.find("rbm"), std::string::npos) << words;
  EXPECT_NE(words.find("bnn"), std::string::npos) << words;
  EXPECT_NE(words.find("ising-lattice"), std::string::npos) << words;
}

TEST(CudaModels, SaysThatThereIsNoGpu) {
  const std::string words = refusal(small_rbm());
  if (gpu_here()) {
    EXPECT_EQ(words, "");
    EXPECT_NE(gpu_name(), "");
  } else {
    EXPECT_NE(words.find("no NVIDIA GPU was found"), std::string::npos) << words;
    EXPECT_EQ(gpu_name(), "");
  }
}

TEST(CudaModels, LinkedPartIsTheModule) {
  const CudaModule& module = cuda_module();
  EXPECT_EQ(&module, &cuda_module("another"));
  EXPECT_EQ(module.gpu_name().empty(), !gpu_here());
}

// All states equally likely.
class Flat final : public DeviceEnergy {
 public:
  explicit Flat(int dim) : dim_(dim) {}
  void prepare(int) override {}
  void evaluate(cudaStream_t stream, const float*, int rows, double* logp, float* score) override {
    const auto n = static_cast<std::size_t>(rows);
    if (logp) check(cudaMemsetAsync(logp, 0, n * sizeof(double), stream), "cudaMemsetAsync");
    if (!score) return;
    const std::size_t all = n * static_cast<std::size_t>(dim_);
    check(cudaMemsetAsync(score, 0, all * sizeof(float), stream), "cudaMemsetAsync");
  }

 private:
  int dim_;
};

// A type of its own, so that no other test meets this entry.
class Coins final : public Target {
 public:
  std::string name() const override { return "coins"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override {
    for (int r = 0; r < x.rows; ++r) {
      if (logp) logp[r] = 0;
      if (score) std::fill_n(score[r], x.cols, 0.0f);
    }
  }

 private:
  Domain domain_ = Domain::binary(40);
};

TEST(CudaModels, AddsAModelByItsEnergy) {
  EXPECT_NE(refusal(Coins()).find("coins has no version"), std::string::npos);
  add_model(typeid(Coins), "coins", by_energy<Coins>([](const Coins& coins) {
              return std::make_shared<Flat>(coins.domain().dim());
            }));
  const std::string words = refusal(Coins());
  EXPECT_EQ(words.find("has no version"), std::string::npos) << words;
  if (!gpu_here()) GTEST_SKIP() << "no NVIDIA GPU here";
  const auto target = on_device(Coins());
  EXPECT_EQ(target->name(), "coins");
  EXPECT_TRUE(target->on_device());
  EXPECT_FALSE(target->stochastic());
}

}  // namespace
}  // namespace saltus::cuda
