// A project with a model of its own on the GPU, by the installed headers: coins, each up with
// probability 1/2. Where there is no GPU, the refusal must say so.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <saltus/core/error.hpp>
#include <saltus/cuda/check.hpp>
#include <saltus/cuda/models.hpp>
#include <saltus/cuda/module.hpp>
#include <saltus/run/moments.hpp>
#include <saltus/run/run.hpp>
#include <saltus/sampler/dlp.hpp>

namespace {

class Coins final : public saltus::Target {
 public:
  std::string name() const override { return "coins"; }
  const saltus::Domain& domain() const override { return domain_; }
  void evaluate(const saltus::At&, saltus::Rows<const saltus::Symbol> x, double* logp,
                saltus::Rows<float> score) const override {
    for (int r = 0; r < x.rows; ++r) {
      if (logp) logp[r] = 0;
      for (int i = 0; score && i < x.cols; ++i) score[r][i] = 0;
    }
  }

 private:
  saltus::Domain domain_ = saltus::Domain::binary(20);
};

class CoinsEnergy final : public saltus::cuda::DeviceEnergy {
 public:
  explicit CoinsEnergy(int dim) : dim_(dim) {}
  void prepare(int) override {}
  void evaluate(cudaStream_t stream, const float*, int rows, double* logp, float* score) override {
    const auto n = static_cast<std::size_t>(rows);
    if (logp) saltus::cuda::check(cudaMemsetAsync(logp, 0, n * sizeof(double), stream), "logp");
    const std::size_t bytes = n * static_cast<std::size_t>(dim_) * sizeof(float);
    if (score) saltus::cuda::check(cudaMemsetAsync(score, 0, bytes, stream), "score");
  }

 private:
  int dim_;
};

}  // namespace

int main() {
  namespace cuda = saltus::cuda;
  cuda::add_model(typeid(Coins), "coins", cuda::by_energy<Coins>([](const Coins& coins) {
                    return std::make_shared<CoinsEnergy>(coins.domain().dim());
                  }));
  std::unique_ptr<saltus::Target> target;
  try {
    target = saltus::cuda_module().on_device(Coins());
  } catch (const saltus::UsageError& e) {
    std::printf("%s\n", e.what());
    return saltus::gpu_name().empty() && std::strstr(e.what(), "no NVIDIA GPU") ? 0 : 1;
  }
  saltus::RunPlan plan;
  plan.draws = 20000;
  saltus::Moments moments(target->domain(), plan.chains, plan.draws, true);
  saltus::Run run(*target, std::make_unique<saltus::Dlp>(target->domain(), saltus::DlpOptions{}),
                  plan);
  run.add(moments);
  run.start();
  run.go();
  const double error = moments.mean()[0] - 0.5;
  const double mcse = std::sqrt(moments.variance()[0] / moments.ess()[0]);
  std::printf("error %.4f, standard error %.4f\n", error, mcse);
  return std::abs(error) < 5 * mcse ? 0 : 1;
}
