// How fast a search sweeps spins: updates of one coordinate in one restart per nanosecond of one
// core, with restarts in lanes and by the engine, in turns.
//
//   saltus_bench_anneal GRAPH [STEPS [RESTARTS]]
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <vector>

#include "saltus/anneal.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/target/tempered.hpp"

namespace {

using namespace saltus;

constexpr int kTurns = 5;

// Processor time, because other programs may have the processor meanwhile.
double updates_per_ns(const Target& target, const SearchPlan& plan) {
  const Tempered path(target, Independent::uniform(target.domain()));
  const SamplerChoice choice = recommended_search_sampler(target);
  Search search(target, make_sampler(choice.name, path, choice.settings), plan);
  const double before = processor_seconds();
  search.go();
  const double updates = static_cast<double>(plan.restarts) * target.domain().dim() *
                         static_cast<double>(plan.betas.size());
  return updates / (processor_seconds() - before) * 1e-9;
}

void race(const std::string& file, int steps, int restarts) {
  const Model model = load_model(file);
  SearchPlan plan;
  plan.restarts = restarts;
  plan.threads = 1;
  const BetaRange range = default_range(*model.target, 1);
  SearchPlan plain = plan;
  plan.betas = geometric_schedule(range, steps);
  plain.betas = geometric_schedule(range, std::max(1, steps / 50));
  plain.in_lanes = false;
  std::vector<double> lanes, engine;
  for (int turn = 0; turn < kTurns; ++turn) {
    lanes.push_back(updates_per_ns(*model.target, plan));
    engine.push_back(updates_per_ns(*model.target, plain));
  }
  std::ranges::sort(lanes);
  std::ranges::sort(engine);
  fmt::print(
      "{}, {} restarts: {:.3f} updates/ns in lanes (best {:.3f}), {:.4f} by the engine; "
      "medians of {}\n",
      file, restarts, lanes[kTurns / 2], lanes.back(), engine[kTurns / 2], kTurns);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print("usage: saltus_bench_anneal GRAPH [STEPS [RESTARTS]]\n"), 64;
  try {
    race(argv[1], argc > 2 ? std::atoi(argv[2]) : 1000, argc > 3 ? std::atoi(argv[3]) : 64);
  } catch (const std::exception& e) {
    return fmt::print(stderr, "{}\n", e.what()), 1;
  }
  return 0;
}
