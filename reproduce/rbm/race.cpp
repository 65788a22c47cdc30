#include "reproduce/rbm/race.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reproduce/chains.hpp"

namespace saltus::reproduce {
namespace {

std::vector<Entrant> field() {
  return {dmala(0.2),
          {"DULA", "dula", {{"step_size", "0.1"}}, 0.1},
          {"GWG-1", "gwg", {{"flips", "1"}}},
          {"HB-10-1", "hamming_ball", {{"block", "10"}, {"radius", "1"}}},
          {"Gibbs-1", "gibbs", {{"scan", "permutation"}}},
          {"Block-Gibbs", "block_gibbs", {}},
          dmala(INFINITY)};
}

// Most samplers are told apart by a few runs. Only DMALA is compared with a number.
int runs_of(const Entrant& entrant, const Context& context) {
  if (entrant.name() == "DMALA 0.2") return context.seeds();
  const bool aside = entrant.sampler == "block_gibbs" || std::isinf(entrant.alpha);
  return std::min(context.seeds(), aside && context.quick() ? 1 : 5);
}

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

Course run_course(Context& context, const Machine& machine, const MmdReference& reference,
                  const Entrant& entrant, std::uint64_t steps, std::uint64_t seed) {
  const Rbm& target = *machine.target;
  const auto sampler = make_sampler(entrant.sampler, target, entrant.settings);
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

Entrant dmala(double alpha) {
  return {"DMALA", "dmala", {{"step_size", fmt::format("{:g}", alpha)}}, alpha};
}

std::string Entrant::name() const {
  if (std::isinf(alpha)) return label + " without the term";
  return std::isnan(alpha) ? label : fmt::format("{} {:g}", label, alpha);
}

Json Entrant::setting(const Machine& machine) const {
  Json j = {{"rbm", machine.name}, {"sampler", label}};
  if (std::isinf(alpha)) {
    j["alpha"] = "infinite";
  } else if (!std::isnan(alpha)) {
    j["alpha"] = alpha;
  }
  return j;
}

double Course::mean(const std::vector<double>& values, std::uint64_t from, std::uint64_t to) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(from / kMmdEvery),
             last = values.begin() + static_cast<std::ptrdiff_t>(to / kMmdEvery);
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Measured Standing::log_mmd() const {
  return over_runs(runs, [](const Course& c) { return c.log_mmd.back(); });
}

Measured Standing::seconds() const {
  return over_runs(runs, [](const Course& c) { return c.seconds; });
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
    int run;
  };
  std::vector<Race> races;
  for (const Machine& machine : machines) {
    races.push_back({&machine, MmdReference(machine.reference()), {}});
    for (const Entrant& entrant : field()) {
      const auto runs = static_cast<std::size_t>(runs_of(entrant, context));
      races.back().standings.push_back({entrant, std::vector<Course>(runs)});
    }
  }
  std::vector<Task> tasks;
  for (int run = 0; run < context.seeds(); ++run) {
    for (Race& race : races) {
      for (Standing& s : race.standings) {
        if (run < static_cast<int>(s.runs.size())) tasks.push_back({&race, &s, run});
      }
    }
  }
  context.parallel("samplers", static_cast<int>(tasks.size()), [&](int t) {
    const Task& task = tasks[static_cast<std::size_t>(t)];
    task.standing->runs[static_cast<std::size_t>(task.run)] =
        run_course(context, *task.race->machine, task.race->reference, task.standing->entrant,
                   steps, context.seed(task.run));
  });
  return races;
}

Equilibrium in_equilibrium(const Machine& machine, double alpha, std::uint64_t steps,
                           std::uint64_t seed) {
  const Entrant entrant = dmala(alpha);
  const auto sampler = make_sampler(entrant.sampler, *machine.target, entrant.settings);
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
