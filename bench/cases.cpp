#include "bench/cases.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "bench/clock.hpp"
#include "bench/models.hpp"
#include "ops/gemm.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::bench {
namespace {

// Timed parts of a measurement, and how long each takes, about. One thread: the median part counts.
// Several threads: the best one, so many short parts, of which some are left alone by other
// programs (and by OpenBLAS, whose idle thread spins for the first tenth of a second).
struct Parts {
  int count;
  double seconds;
};
constexpr Parts kOneThread{9, 0.02}, kThreads{60, 0.008};
constexpr std::uint64_t kWarmup = 20;  // steps; the first ones from a random state are not typical

// Repeats `work(times)` and returns the median time per unit, of which one time does `units`.
Measurement time_parts(double units, Parts parts, const std::function<void(std::uint64_t)>& work) {
  std::uint64_t times = 1;
  for (;;) {  // also warms up caches
    const Time start = Time::now();
    work(times);
    const double seconds = Time::now().since(start).cpu;
    if (seconds >= parts.seconds / 2) {
      times = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<double>(times) * parts.seconds / seconds));
      break;
    }
    times *= 2;
  }
  std::vector<double> wall, cpu;
  for (int part = 0; part < parts.count; ++part) {
    const Time start = Time::now();
    work(times);
    const Time used = Time::now().since(start);
    const double scale = 1e9 / (units * static_cast<double>(times));
    wall.push_back(used.wall * scale);
    cpu.push_back(used.cpu * scale);
  }
  return {median(wall), median(cpu), *std::min_element(wall.begin(), wall.end()), peak_memory(), 0};
}

struct Acceptance final : StepObserver {
  double sum = 0, count = 0;
  bool wants_logp(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    if (tile.first_slot != 0) return;  // one tile: no two threads here
    sum += info[0].acceptance;
    count += 1;
  }
};

struct Steps {
  bool adjust;
  double step_size;
  int chains;
  int threads = 1;
  int tile = 0;
  int window = 0;
};

Dlp sampler_of(const Target& target, const Steps& steps) {
  DlpOptions options;
  options.adjust = steps.adjust;
  options.step_size = steps.step_size;
  options.window = steps.window;
  return Dlp(target.domain(), options);
}

// Nanoseconds per coordinate and step.
Measurement time_sampler(const Target& target, const Sampler& sampler, const Steps& steps) {
  Ensemble ensemble(target, steps.chains, steps.tile, steps.threads, 1);
  ensemble.start_random();
  ensemble.evaluate();
  Acceptance warmup, acceptance;
  ensemble.advance(sampler, kWarmup, warmup);
  const double units = static_cast<double>(steps.chains) * target.domain().dim();
  Measurement m = time_parts(units, steps.tile ? kThreads : kOneThread,
                             [&](std::uint64_t n) { ensemble.advance(sampler, n, acceptance); });
  m.acceptance = acceptance.sum / acceptance.count;
  return m;
}

constexpr int kVisible = 784, kHidden = 500, kRbmChains = 100;

// Nanoseconds per step of all chains, in equilibrium.
Measurement time_rbm() {
  const auto target = rbm(kVisible, kHidden);
  Ensemble ensemble(*target, kRbmChains, 0, 1, 1);
  const Dlp sampler = sampler_of(*target, {true, 0.2, kRbmChains});
  ensemble.start_random();
  ensemble.evaluate();
  Acceptance warmup, acceptance;
  ensemble.advance(sampler, 500, warmup);
  Measurement m =
      time_parts(1, kOneThread, [&](std::uint64_t n) { ensemble.advance(sampler, n, acceptance); });
  m.acceptance = acceptance.sum / acceptance.count;
  return m;
}

// Nanoseconds for the two products that a step from scratch takes: pre-activations and score.
Measurement time_rbm_products() {
  const auto floats = [](int rows, int cols) {
    const std::vector<double> numbers =
        uniform_numbers(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols), -1, 1);
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  const std::vector<float> x = floats(kRbmChains, kVisible), by_visible = floats(kVisible, kHidden),
                           by_hidden = floats(kHidden, kVisible);
  std::vector<float> hidden = floats(kRbmChains, kHidden), score(x.size());
  const ops::OneBlasThread one_thread;
  return time_parts(1, kOneThread, [&](std::uint64_t n) {
    for (std::uint64_t k = 0; k < n; ++k) {
      ops::multiply(kRbmChains, kHidden, kVisible, x.data(), kVisible, by_visible.data(), kHidden,
                    hidden.data(), kHidden);
      ops::multiply(kRbmChains, kVisible, kHidden, hidden.data(), kHidden, by_hidden.data(),
                    kVisible, score.data(), kVisible);
    }
  });
}

Measurement time_steps(std::unique_ptr<Target> target, const Steps& steps) {
  return time_sampler(*target, sampler_of(*target, steps), steps);
}

// Sweeps of Gibbs updates, every coordinate once a step.
Measurement time_sweeps(std::unique_ptr<Target> target, GibbsOptions::Scan scan, int chains) {
  GibbsOptions options;
  options.scan = scan;
  options.updates = 0;
  return time_sampler(*target, Gibbs(*target, options), {true, 0, chains});
}

// Nanoseconds per step of one chain, a single flip.
Measurement time_flips(std::unique_ptr<Target> target) {
  const auto sampler = make_sampler("gwg", *target, {});
  Ensemble ensemble(*target, 1, 0, 1, 1);
  ensemble.start_random();
  ensemble.evaluate();
  Acceptance warmup, acceptance;
  ensemble.advance(*sampler, 2000, warmup);
  return time_parts(1, kOneThread,
                    [&](std::uint64_t n) { ensemble.advance(*sampler, n, acceptance); });
}

DrawSpool spool_for(const Target& target, int chains) {
  DrawsInfo info;
  info.shape = target.shape();
  info.levels = target.domain().max_levels();
  info.first_value = target.domain().first_value();
  info.spacing = target.domain().spacing();
  return DrawSpool(info, target.domain().dim(), chains, {}, {});
}

// Nanoseconds per step of both chains together, all draws recorded.
Measurement time_run() {
  const auto target = lattice(5);
  const Steps steps{true, 0.4, 2};
  RunPlan plan;
  plan.chains = 2;
  plan.threads = 1;
  plan.warmup = 1000;
  plan.draws = 500000;
  DrawSpool spool = spool_for(*target, plan.chains);
  Run run(*target, std::make_unique<Dlp>(sampler_of(*target, steps)), plan);
  run.add(spool);
  run.start();
  const Time start = Time::now();
  run.go();
  const Time used = Time::now().since(start);
  const double scale = 1e9 / static_cast<double>(plan.warmup + plan.draws);
  return {used.wall * scale, used.cpu * scale, used.wall * scale, peak_memory(),
          run.statistics().acceptance};
}

// Nanoseconds per number of which R-hat and effective sample size are made.
Measurement time_summary() {
  const auto target = lattice(5);
  RunPlan plan;
  plan.chains = 2;
  plan.threads = 1;
  plan.draws = 100000;
  DrawSpool spool = spool_for(*target, plan.chains);
  Run run(*target, std::make_unique<Dlp>(sampler_of(*target, {true, 0.4, 2})), plan);
  run.add(spool);
  run.start();
  run.go();
  const Time start = Time::now();
  (void)summarise(spool, false, 1);
  const Time used = Time::now().since(start);
  const double scale = 1e9 / (static_cast<double>(plan.draws) * plan.chains * spool.dim());
  return {used.wall * scale, used.cpu * scale, used.wall * scale, peak_memory(), 0};
}

// Nanoseconds per checkpoint of the 100 x 100 lattice with 16 chains: collect the state, write it,
// and wait until the disk has it.
Measurement time_checkpoint() {
  const auto target = lattice(100);
  RunPlan plan;
  plan.chains = 16;
  plan.threads = 1;
  plan.warmup = 10;
  plan.draws = 10;
  Run run(*target, std::make_unique<Dlp>(sampler_of(*target, {true, 0.4, 16})), plan);
  run.start();
  run.go();
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("saltus-bench-" + std::to_string(::getpid()) + ".checkpoint");
  const Measurement m = time_parts(1, kOneThread, [&](std::uint64_t n) {
    for (std::uint64_t k = 0; k < n; ++k) {
      ByteWriter out;
      run.save(out);
      write_checkpoint(path, "{}", out.bytes());
    }
  });
  std::filesystem::remove(path);
  return m;
}

using Case = std::function<Measurement()>;

template <class Make>
Case steps_case(Make make, Steps steps) {
  return [=] { return time_steps(make(), steps); };
}

template <class Make>
Case sweeps_case(Make make, GibbsOptions::Scan scan, int chains) {
  return [=] { return time_sweeps(make(), scan, chains); };
}

const std::map<std::string, Case>& cases() {
  const auto grid = [] { return lattice(100); };
  const auto large = [] { return lattice(1000); };
  const auto sparse = [] { return random_graph(10000, 6); };
  const auto spins = [] { return dense_spins(1000); };
  using Scan = GibbsOptions::Scan;
  static const std::map<std::string, Case> all = {
      {"paper", time_run},
      {"lattice-dula", steps_case(grid, {false, 0.2, 16})},
      {"lattice-dmala", steps_case(grid, {true, 0.4, 16})},
      {"lattice-dmala-tuned", steps_case(grid, {true, 0.15, 16})},
      {"lattice-dula-1-thread", steps_case(grid, {false, 0.2, 16, 1, 4})},
      {"lattice-dula-2-threads", steps_case(grid, {false, 0.2, 16, 2, 4})},
      {"lattice-dmala-1-thread", steps_case(grid, {true, 0.4, 16, 1, 4})},
      {"lattice-dmala-2-threads", steps_case(grid, {true, 0.4, 16, 2, 4})},
      {"sparse-dula", steps_case(sparse, {false, 0.2, 16})},
      {"sparse-dmala", steps_case(sparse, {true, 0.4, 16})},
      {"million-dula", steps_case(large, {false, 0.2, 4})},
      {"million-dmala", steps_case(large, {true, 0.4, 4})},
      {"dense", steps_case(spins, {true, 0.2, 64})},
      {"ordered", steps_case([] { return ordered_ring(1000, 5); }, {true, 0.3, 16})},
      {"potts", steps_case([] { return potts_grid(50, 3); }, {true, 0.3, 16})},
      {"words", steps_case([] { return words(8, 30000); }, {true, 0.3, 4})},
      {"poisson", steps_case([] { return poisson(1000); }, {true, 0.5, 16, 1, 0, 1})},
      {"rbm", time_rbm},
      {"rbm-products", time_rbm_products},
      {"gwg-100", [] { return time_flips(lattice(100)); }},
      {"gwg-1000", [] { return time_flips(lattice(1000)); }},
      {"gwg-sparse", [] { return time_flips(random_graph(10000, 6)); }},
      {"gibbs-lattice", sweeps_case([] { return lattice(256); }, Scan::colours, 1)},
      {"gibbs-lattice-permutation", sweeps_case([] { return lattice(256); }, Scan::permutation, 1)},
      {"gibbs-sparse-1", sweeps_case(sparse, Scan::permutation, 1)},
      {"gibbs-sparse-16", sweeps_case(sparse, Scan::permutation, 16)},
      {"gibbs-dense-1", sweeps_case(spins, Scan::permutation, 1)},
      {"gibbs-dense-4", sweeps_case(spins, Scan::permutation, 4)},
      {"gibbs-dense-16", sweeps_case(spins, Scan::permutation, 16)},
      {"gibbs-dense-64", sweeps_case(spins, Scan::permutation, 64)},
      {"summary", time_summary},
      {"checkpoint", time_checkpoint},
  };
  return all;
}

}  // namespace

Measurement measure(const std::string& name) {
  return cases().at(name)();
}

}  // namespace saltus::bench
