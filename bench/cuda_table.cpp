// Time of a step on the GPU, and of an iteration of learning: saltus_bench_cuda [STEPS [MODEL]]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "saltus/cuda/module.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/binary_network.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/rbm.hpp"
#ifdef SALTUS_TORCH_ON_CUDA
#include "saltus/torch/module.hpp"
#endif

namespace saltus {
namespace {

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

std::vector<double> numbers(int count, double size, std::uint32_t which) {
  const Stream stream(5, which, 0, Purpose::check);
  std::vector<double> list;
  for (int k = 0; k < count; ++k) {
    list.push_back(size * (2 * stream.uniform(static_cast<std::uint32_t>(k)) - 1));
  }
  return list;
}

// As large as the Adult data with 500 hidden units.
BinaryNetwork random_network() {
  RegressionRows rows;
  rows.features = 88;
  for (double v : numbers(29860 * 88, 1.7, 1)) rows.x.push_back(static_cast<float>(v));
  for (double v : numbers(29860, 1, 2)) rows.y.push_back(v > 0.5);
  return BinaryNetwork(std::move(rows), {});
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
  bool takes_sums() const override { return true; }
  void after_steps(std::uint32_t, std::span<const StepSums> sums) override {
    for (const StepSums& s : sums) acceptance += s.acceptance;
    steps += sums[0].steps;
  }
};

struct Case {
  std::string sampler;
  Settings settings;
  std::uint64_t thin;
};

void table(const std::string& what, const Target& target, int chains, std::uint64_t steps,
           const std::vector<Case>& cases) {
  fmt::print("{}, {} chains, {} steps\n", what, chains, steps);
  for (const Case& c : cases) {
    const auto sampler = make_sampler(c.sampler, target, c.settings);
    Ensemble ensemble(target, chains, 0, 1, 1);
    ensemble.start_random();
    ensemble.evaluate();
    Look warm(c.thin), look(c.thin);
    ensemble.advance(*sampler, std::min<std::uint64_t>(steps, 64), warm);  // graphs are then there
    const double begin = seconds();
    ensemble.advance(*sampler, steps, look);
    fmt::print("  {:8} {:16} {:10.1f} us per step, acceptance {:.3f}\n", c.sampler,
               c.thin == 0   ? "no states kept"
               : c.thin == 1 ? "all states kept"
                             : "every 10th kept",
               1e6 * (seconds() - begin) / static_cast<double>(steps),
               look.acceptance / static_cast<double>(look.steps) / chains);
  }
}

const Settings kLarge = {{"step_size", "0.2"}}, kSmall = {{"step_size", "0.1"}};

#ifdef SALTUS_TORCH_ON_CUDA
ResnetEnergy random_resnet() {
  ResnetEnergy energy = ResnetEnergy::random({}, std::vector<double>(784, 0.2), 1);
  for (float& p : energy.parameters) p *= 2;
  return energy;
}

void learning(std::uint64_t iterations) {
  const auto network = torch_module().learn_resnet(random_resnet(), {}, {Device::cuda, {}});
  const RowBuffer<Symbol> x(100, 784);
  for (int r = 0; r < 100; ++r) {
    for (int i = 0; i < 784; ++i) x.view()[r][i] = static_cast<Symbol>((r * 7 + i * 3) % 5 == 0);
  }
  for (int k = 0; k < 5; ++k) network->update(x.view(), x.view(), 1e-4);
  const double begin = seconds();
  for (std::uint64_t k = 0; k < iterations; ++k) network->update(x.view(), x.view(), 1e-4);
  fmt::print("learning: {:.1f} us per update of 100 + 100 images\n",
             1e6 * (seconds() - begin) / static_cast<double>(iterations));
}

void networks(std::uint64_t steps) {
  for (const auto& [name, precision] :
       {std::pair("half", Precision::half), std::pair("tf32", Precision::tf32),
        std::pair("single", Precision::single)}) {
    const auto target = torch_module().resnet(random_resnet(), {Device::cuda, precision});
    table(fmt::format("resnet-ebm, 64 channels, 8 blocks, precision {}", name), *target, 100,
          precision == Precision::half ? steps : steps / 10,
          {{"dmala", kLarge, 0}, {"dmala", kLarge, 10}, {"dula", kSmall, 0}, {"gwg", {}, 0}});
  }
  learning(steps / 10);
}
#endif

// So many steps that they take about a fifth of a second.
void lattice(int side, int chains, const std::string& sampler, const char* step_size, double b) {
  const IsingLattice model(side, side, true, 0.1, b);
  const auto target = cuda_module().on_device(model);
  const Settings settings = sampler == "gibbs" ? Settings{} : Settings{{"step_size", step_size}};
  const auto kernel = make_sampler(sampler, *target, settings);
  Ensemble ensemble(*target, chains, 0, 1, 1);
  ensemble.start_random();
  ensemble.evaluate();
  Look warm(0), look(0);
  const auto time = [&](std::uint64_t steps, Look& told) {
    const double begin = seconds();
    ensemble.advance(*kernel, steps, told);
    return seconds() - begin;
  };
  time(100, warm);
  std::uint64_t steps = 1000;
  while (steps < 1'000'000 && time(steps, warm) < 0.05) steps *= 4;
  const double us = 1e6 * time(steps, look) / static_cast<double>(steps);
  fmt::print(
      "  {:3} x {:<3} b={:3.1f} {:6} chains  {:5}  {:9.3f} us per step, {:8.1f} coordinates/ns, "
      "acceptance {:.3f}\n",
      side, side, b, chains, sampler, us, 1e-3 * side * side * chains / us,
      look.acceptance / static_cast<double>(look.steps) / chains);
}

void lattices() {
  fmt::print("ising-lattice, periodic, no states kept\n");
  for (const double b : {0.0, 0.2}) {
    for (const int chains : {2, 264, 2112, 10000}) lattice(5, chains, "dmala", "0.4", b);
    for (const int chains : {64, 1000}) lattice(100, chains, "dmala", "0.15", b);
    for (const int chains : {64, 132}) lattice(256, chains, "dmala", "0.1", b);
  }
  lattice(5, 10000, "dula", "0.4", 0);
  for (const int chains : {264, 10000}) lattice(8, chains, "gibbs", "", 0);
  for (const int chains : {64, 1000}) lattice(100, chains, "gibbs", "", 0);
  for (const int chains : {64, 132, 1056}) lattice(256, chains, "gibbs", "", 0);
  for (const int chains : {64, 1000}) lattice(100, chains, "dula", "0.1", 0);
  for (const int chains : {64, 132, 1056}) lattice(256, chains, "dula", "0.08", 0);
}

// `only`: the beginning of a model's name; empty: all.
void tables(std::uint64_t steps, const std::string& only) {
  const auto wanted = [&](const std::string& model) { return model.starts_with(only); };
  if (wanted("ising-lattice")) lattices();
  if (!wanted("rbm") && !wanted("bnn")) return;
  const Rbm rbm(numbers(784 * 500, 0.1, 3), numbers(784, 1, 4), numbers(500, 1, 5));
  const auto rbm_target = cuda_module().on_device(rbm);
  table("rbm 784 x 500", *rbm_target, 100, 10 * steps,
        {{"dmala", kLarge, 0},
         {"dmala", kLarge, 10},
         {"dmala", kLarge, 1},
         {"dula", kSmall, 0},
         {"gwg", {}, 0},
         {"gibbs", {}, 0}});
  const auto bnn = cuda_module().on_device(random_network());
  table("bnn 29,860 x 88, 500 hidden", *bnn, 50, steps / 20,
        {{"dmala", kSmall, 0}, {"dula", kSmall, 0}, {"gwg", {}, 0}, {"gibbs", {}, 0}});
#ifdef SALTUS_TORCH_ON_CUDA
  networks(steps);
#endif
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  try {
    saltus::tables(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000, argc > 2 ? argv[2] : "");
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return 0;
}
