// What a target by libtorch adds to the time of its network: the paper's residual network on one
// core, forward and backward. Both are timed in turns, and the ratio is that of the medians.
#include <fmt/core.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/torch/module.hpp"
#include "torch/resnet_target.hpp"

namespace {

using namespace saltus;

template <class F>
double seconds(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void time_at(int chains, int repeats) {
  const ResnetEnergy energy = ResnetEnergy::random({}, std::vector<double>(784, 0.2), 1);
  const auto target = torch_module().resnet(energy, {});
  const ResnetTensors tensors(energy, at::kCPU);
  const RowBuffer<Symbol> x(chains, 784);
  for (int r = 0; r < chains; ++r) {
    const Stream stream(1, static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (int i = 0; i < 784; ++i)
      x.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < 0.2;
  }
  at::Tensor values = at::empty({chains, 784}, at::kFloat);
  write_values(target->domain(), x.view(), values.data_ptr<float>());
  const RowBuffer<float> score(chains, 784);
  std::vector<double> logp(static_cast<std::size_t>(chains)), own, whole;
  Scratch scratch;
  for (int k = 0; k <= repeats; ++k) {
    const double network = seconds([&] {
      const at::AutoGradMode gradients(true);
      const at::Tensor in = values.detach().requires_grad_(true);
      const at::Tensor f = resnet_forward(tensors.shape, tensors.views, in);
      torch::autograd::grad({f.sum()}, {in});
    });
    const double evaluated = seconds([&] {
      target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
    });
    if (k == 0) continue;  // the first calls prepare
    own.push_back(network);
    whole.push_back(evaluated);
  }
  fmt::print("{:>4} chains: network {:.1f} ms, target {:.1f} ms, {:+.2f} %\n", chains,
             1e3 * median(own), 1e3 * median(whole), 100 * (median(whole) / median(own) - 1));
}

}  // namespace

int main() {
  use_one_thread();
  fmt::print("resnet-ebm, 599,873 parameters, libtorch {}\n", torch_module().version());
  for (const int chains : {1, 16, 100}) time_at(chains, 1600 / (chains + 15));
}
