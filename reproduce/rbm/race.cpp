#include "reproduce/rbm/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reproduce/chains.hpp"

namespace saltus::reproduce {
namespace {

std::vector<Entrant> field() {
  return {dmala(0.2),
          {"DULA", "dula", 0.1},
          {"GWG-1", "gwg", NAN, {{"flips", "1"}}},
          {"HB-10-1", "hamming_ball", NAN, {{"block", "10"}, {"radius", "1"}}},
          {"Gibbs-1", "gibbs", NAN, {{"scan", "permutation"}}},
          {"Block-Gibbs", "block_gibbs"},
          dmala(INFINITY)};
}

// Most samplers are told apart by a few runs. Only DMALA is compared with a number.
std::size_t runs_of(const Entrant& entrant, const Context& context) {
  if (entrant.name() == "DMALA 0.2") return context.seeds();
  const bool aside = entrant.sampler == "block_gibbs" || std::isinf(entrant.alpha);
  return std::min<std::size_t>(context.seeds(), aside && context.quick() ? 1 : 5);
}

Course run_course(Context& context, const Machine& machine, const MmdReference& reference,
                  const Entrant& entrant, std::uint64_t steps, std::uint64_t seed) {
  const Rbm& target = *machine.target;
  const auto sampler = entrant.make(target);
  Ensemble ensemble(target, Machine::kStart, Machine::kStart, 1, seed);
  ensemble.start_from(machine.start_states(seed).view());
  ensemble.evaluate();
  double acceptance = 0, proposed = 0;
  Visitor add([&](int, std::uint64_t, const Symbol*, const StepInfo& info) {
    acceptance += info.acceptance;
    proposed += info.proposed;
  });
  Course course;
  constexpr double kMoves = static_cast<double>(kMmdEvery) * Machine::kStart;
  for (std::uint64_t done = 0; done < steps; done += kMmdEvery) {
    if (done % 500 == 0) {
      context.progress(fmt::format("{} RBM, {}, seed {}: step {} of {}", machine.name,
                                   entrant.name(), seed, done, steps));
    }
    acceptance = proposed = 0;
    const double before = thread_seconds();
    ensemble.advance(*sampler, kMmdEvery, add);
    course.seconds += thread_seconds() - before;
    course.acceptance.push_back(acceptance / kMoves);
    course.proposed.push_back(proposed / kMoves);
    course.last = states_of(ensemble, target.domain().dim());
    const Mmd mmd = reference.squared(course.last.view());
    course.log_mmd.push_back(std::log(mmd.v_statistic));
    course.u_statistic = mmd.u_statistic;
  }
  return course;
}

}  // namespace

double Course::mean(const std::vector<double>& values, std::uint64_t from, std::uint64_t to) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(from / kMmdEvery),
             last = values.begin() + static_cast<std::ptrdiff_t>(to / kMmdEvery);
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Measured Standing::log_mmd() const {
  return over_runs(runs, [](const Course& c) { return c.log_mmd.back(); });
}

Measured Standing::seconds() const {
  return over_runs(runs, &Course::seconds);
}

const Standing& Race::of(const std::string& name) const {
  return *std::find_if(standings.begin(), standings.end(),
                       [&](const Standing& s) { return s.entrant.name() == name; });
}

std::vector<Race> run_races(Context& context, const std::vector<Machine>& machines,
                            std::uint64_t steps) {
  struct Task {
    const Race* race;
    Standing* standing;
    std::size_t run;
  };
  std::vector<Race> races;
  for (const Machine& machine : machines) {
    races.push_back({&machine, MmdReference(machine.reference()), {}});
    for (const Entrant& entrant : field()) {
      races.back().standings.push_back({entrant, std::vector<Course>(runs_of(entrant, context))});
    }
  }
  std::vector<Task> tasks;
  for (std::size_t run = 0; run < context.seeds(); ++run) {
    for (Race& race : races) {
      for (Standing& s : race.standings) {
        if (run < s.runs.size()) tasks.push_back({&race, &s, run});
      }
    }
  }
  context.parallel("samplers", tasks.size(), [&](std::size_t t) {
    const auto& [race, standing, run] = tasks[t];
    standing->runs[run] = run_course(context, *race->machine, race->reference, standing->entrant,
                                     steps, context.seed(run));
  });
  return races;
}

Equilibrium in_equilibrium(const Machine& machine, double alpha, std::uint64_t steps,
                           std::uint64_t seed) {
  const auto sampler = dmala(alpha).make(*machine.target);
  const Rows<Symbol> start = machine.samples.view();
  std::vector<double> acceptance(static_cast<std::size_t>(start.rows)), proposed = acceptance;
  run_chains(*machine.target, *sampler, start, steps, seed,
             [&](int chain, std::uint64_t, const Symbol*, const StepInfo& info) {
               const auto c = static_cast<std::size_t>(chain);
               acceptance[c] += info.acceptance / static_cast<double>(steps);
               proposed[c] += info.proposed / static_cast<double>(steps);
             });
  return {measured(acceptance), measured(proposed)};
}

}  // namespace saltus::reproduce
