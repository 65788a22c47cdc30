// How well does --sampler auto choose? On every model of the benchmarks: all exact samplers race
// for a while, then the choice is made as in a run that takes a few seconds, and the time that such
// a run takes with it, race included, is compared with that of the best single choice.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/models.hpp"
#include "saltus/compare/choice.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus::bench {
namespace {

constexpr double kRunSeconds = 4;   // of the run that the choice is for
constexpr double kRaceSeconds = 1;  // for each sampler, to find out who is best
constexpr double kClose = 1.5;

struct Named {
  std::string name;
  std::unique_ptr<Target> target;
};

std::vector<Named> all_models() {
  std::vector<Named> list;
  list.push_back({"5 x 5 lattice", lattice(5)});
  list.push_back({"100 x 100 lattice", lattice(100)});
  list.push_back({"random graph, 10,000", random_graph(10000, 6)});
  list.push_back({"dense spins, 1,000", dense_spins(1000)});
  list.push_back({"ordered ring, 1,000 x 5", ordered_ring(1000, 5)});
  list.push_back({"Potts grid, 50 x 50 x 3", potts_grid(50, 3)});
  list.push_back({"Poisson, 1,000", poisson(1000)});
  list.push_back({"RBM 784 x 500", rbm(784, 500)});
  return list;
}

bool exact(const Target& target, const Contender& c) {
  const auto sampler = make_sampler(c.sampler, target, c.settings);
  return sampler->exact() && sampler->random();
}

struct Outcome {
  int choices = 0, close = 0;  // close: at most kClose times slower than the best
  double longest = 0;          // how many times as long a run takes as with the best choice
};

// Chooses so many times, each with another seed.
void judge_choices(const Named& model, int choices, Outcome& all) {
  std::vector<Contender> field = all_contenders(*model.target);
  std::erase_if(field, [&](const Contender& c) { return !exact(*model.target, c); });
  RacePlan plan;
  plan.chains = 4;
  plan.seconds = kRaceSeconds;
  const std::vector<RaceResult> results = race(*model.target, field, plan);
  const RaceResult& best = results[static_cast<std::size_t>(leader(results))];
  RunPlan run;
  run.warmup = 0;
  run.draws =
      static_cast<std::uint64_t>(kRunSeconds * static_cast<double>(results[0].statistics.steps) /
                                 results[0].statistics.seconds_of_draws);
  for (int k = 0; k < choices; ++k) {
    run.seed = static_cast<std::uint64_t>(k + 1);
    const Choice choice = choose_sampler(*model.target, run);
    double factor = INFINITY;
    for (const RaceResult& r : results) {
      if (r.contender.label() != choice.winner.name()) continue;
      factor = best.ess_per_second() / r.ess_per_second();
    }
    const double time = choice.seconds / kRunSeconds + factor;
    ++all.choices;
    all.close += factor <= kClose;
    all.longest = std::max(all.longest, time);
    fmt::print("{:<26} {:<18} {:<18} {:>6.2f} {:>7.2f} s {:>7.2f}\n", model.name,
               best.contender.sampler, choice.winner.name(), factor, choice.seconds, time);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace saltus::bench

// saltus_bench_auto [CHOICES]: of each model, 1 unless told otherwise.
int main(int argc, char** argv) {
  using namespace saltus::bench;
  try {
    const int choices = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
    fmt::print("{:<26} {:<18} {:<18} {:>6} {:>9} {:>7}\n", "model", "best", "chosen", "factor",
               "race", "time");
    Outcome all;
    for (const Named& model : all_models()) judge_choices(model, choices, all);
    fmt::print(
        "\n{} of {} choices are within a factor of {} of the best sampler (goal: 95 of 100).\nA "
        "run "
        "of {} s with the best sampler takes at most {:.2f} times as long with auto, race included "
        "(goal: 2).\n",
        all.close, all.choices, kClose, kRunSeconds, all.longest);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
