// Time of a step on the GPU: RBM with 784 visible and 500 hidden units, 100 chains.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "cuda/rbm_on_cuda.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {
namespace {

constexpr int kVisible = 784, kHidden = 500;

Rbm random_rbm() {
  const Stream stream(5, 0, 0, Purpose::check);
  std::uint32_t next = 0;
  const auto numbers = [&](int count, double size) {
    std::vector<double> list(static_cast<std::size_t>(count));
    for (double& v : list) v = size * (2 * stream.uniform(next++) - 1);
    return list;
  };
  return Rbm(numbers(kVisible * kHidden, 0.1), numbers(kVisible, 1), numbers(kHidden, 1));
}

// Keeps every `thin`-th state; none when it is 0.
struct Look final : StepObserver {
  explicit Look(std::uint64_t every) : thin(every) {}
  std::uint64_t thin, steps = 0;
  double acceptance = 0;
  bool wants_logp(std::uint64_t step) const override { return wants_states(step); }
  bool wants_states(std::uint64_t step) const override {
    return thin > 0 && (step + 1) % thin == 0;
  }
  void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
    for (const StepInfo& i : info) acceptance += i.acceptance;
    ++steps;
  }
};

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

void table(int chains, std::uint64_t steps) {
  const Rbm rbm = random_rbm();
  const auto target = cuda::rbm_on_cuda(rbm);
  std::printf("rbm %d x %d, %d chains, %llu steps\n", kVisible, kHidden, chains,
              static_cast<unsigned long long>(steps));
  std::printf("%-8s %-14s %12s %12s\n", "sampler", "states kept", "us per step", "acceptance");
  const std::vector<std::pair<std::string, Settings>> samplers = {{"dmala", {{"step_size", "0.2"}}},
                                                                  {"dula", {{"step_size", "0.1"}}},
                                                                  {"gwg", {}},
                                                                  {"gibbs", {}}};
  for (const auto& [name, settings] : samplers) {
    const auto sampler = make_sampler(name, *target, settings);
    Ensemble ensemble(*target, chains, 0, 1, 1);
    ensemble.start_random();
    ensemble.evaluate();
    for (std::uint64_t thin : {0u, 10u, 1u}) {
      Look look(thin);
      ensemble.advance(*sampler, 512, look);  // graphs and memory are then there
      look = Look(thin);
      const double begin = seconds();
      ensemble.advance(*sampler, steps, look);
      const double us = 1e6 * (seconds() - begin) / static_cast<double>(steps);
      std::printf("%-8s %-14s %12.2f %12.3f\n", name.c_str(),
                  thin == 0   ? "none"
                  : thin == 1 ? "all"
                              : "every 10th",
                  us, look.acceptance / static_cast<double>(look.steps) / chains);
    }
  }
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  try {
    saltus::table(argc > 1 ? std::atoi(argv[1]) : 100,
                  argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20000);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
