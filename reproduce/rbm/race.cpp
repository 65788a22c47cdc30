#include "reproduce/rbm/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reproduce/chains.hpp"
#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "saltus/sampler/block_gibbs.hpp"

namespace saltus::reproduce {
namespace {

constexpr int kHidden = 500, kBatch = 100, kContrastiveSteps = 10;
// The chains behind the samples have numbers of their own, and so random numbers that no chain of
// the comparison has.
constexpr std::uint32_t kSampleChains = 1'000'000;

// The data's means, as the model's visible biases start from them.
std::vector<double> clipped_means(Rows<const Symbol> data) {
  std::vector<double> mean(static_cast<std::size_t>(data.cols));
  for (int r = 0; r < data.rows; ++r) {
    for (int i = 0; i < data.cols; ++i) mean[static_cast<std::size_t>(i)] += data[r][i];
  }
  for (double& m : mean) m = std::clamp(m / data.rows, 0.01, 0.99);
  return mean;
}

std::unique_ptr<const Rbm> train(Context& context, Rows<const Symbol> data,
                                 std::uint64_t iterations, std::uint64_t seed) {
  TrainableRbm model(data, kHidden, seed);
  LearningPlan plan;
  plan.batch = kBatch;
  plan.steps = kContrastiveSteps;
  plan.seed = seed;
  plan.threads = context.options().threads;
  ContrastiveDivergence learning(model, data, std::make_unique<BlockGibbs>(), plan);
  for (std::uint64_t k = 0; k < iterations; ++k) {
    if (k % 20 == 0)
      context.progress(fmt::format("training {}, batch {} of {}", seed, k, iterations));
    learning.step();
  }
  const std::span<float> all = model.parameters();
  const auto visible = static_cast<std::ptrdiff_t>(data.cols);
  const auto b = all.begin() + visible * kHidden, c = b + visible;
  return std::make_unique<Rbm>(std::vector<double>(all.begin(), b), std::vector<double>(b, c),
                               std::vector<double>(c, all.end()));
}

RowBuffer<Symbol> block_gibbs_samples(Context& context, const Machine& machine,
                                      std::uint64_t sweeps, std::uint64_t seed) {
  constexpr std::uint64_t kAtOnce = 100;
  const int chains = Machine::kReference + Machine::kSecond;
  Ensemble ensemble(*machine.target, chains, 0, context.options().threads, seed);
  ensemble.start_from(independent_bits(machine.mean, chains, kSampleChains, seed).view());
  ensemble.count_chains_from(kSampleChains);
  ensemble.evaluate();
  for (std::uint64_t done = 0; done < sweeps; done += kAtOnce) {
    context.progress(fmt::format("reference samples, sweep {} of {}", done, sweeps));
    advance(ensemble, BlockGibbs(), std::min(kAtOnce, sweeps - done));
  }
  return states_of(ensemble, machine.target->domain().dim());
}

Rows<const Symbol> some_rows(const RowBuffer<Symbol>& all, int first, int count) {
  const Rows<Symbol> x = all.view();
  return {x[first], count, x.cols, x.stride};
}

// Machine::samples in a random order: Fisher & Yates.
RowBuffer<Symbol> shuffled(const RowBuffer<Symbol>& samples, std::uint64_t seed,
                           std::uint32_t which) {
  const Rows<Symbol> x = samples.view();
  std::vector<int> order(static_cast<std::size_t>(x.rows));
  std::iota(order.begin(), order.end(), 0);
  const Stream stream(seed, which, 0, Purpose::check);
  for (std::size_t k = order.size() - 1; k > 0; --k) {
    const double u = stream.uniform(static_cast<std::uint32_t>(k));
    std::swap(order[k], order[static_cast<std::size_t>(u * static_cast<double>(k + 1))]);
  }
  return gathered(x.rows, x.cols, [&](int r) { return x[order[static_cast<std::size_t>(r)]]; });
}

std::vector<Entrant> field() {
  return {dmala(0.2),
          {"DULA", "dula", 0.1},
          {"GWG-1", "gwg", NAN, {{"flips", "1"}}},
          {"HB-10-1", "hamming_ball", NAN, {{"block", "10"}, {"radius", "1"}}},
          {"Gibbs-1", "gibbs", NAN, {{"scan", "permutation"}, {"updates", "1"}}},
          {"Block-Gibbs", "block_gibbs"},
          dmala(INFINITY)};
}

bool aside(const Entrant& entrant) {
  return entrant.sampler == "block_gibbs" || std::isinf(entrant.alpha);
}

// Most samplers are told apart by a few runs. Only DMALA is compared with a number.
std::size_t runs_of(const Entrant& entrant, const Context& context) {
  if (entrant.name() == "DMALA 0.2") return context.seeds();
  return std::min<std::size_t>(context.seeds(), aside(entrant) && context.quick() ? 1 : 5);
}

// How many times as many steps a sampler makes as DMALA: enough to take as long, by some margin.
double stretch_of(const Entrant& entrant) {
  if (entrant.sampler == "gibbs") return 28;
  if (entrant.sampler == "hamming_ball") return 2.6;
  if (entrant.sampler == "dula") return 1.4;
  return entrant.sampler == "gwg" ? 1.2 : 1;
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
  const auto late = static_cast<std::uint64_t>((stretch_of(entrant) - 1) *
                                               static_cast<double>(steps) / kLateEvery);
  for (std::uint64_t k = 0; k < late; ++k) {
    if (k % 50 == 0) {
      context.progress(fmt::format("{} RBM, {}, seed {}: step {}, to take as long as DMALA",
                                   machine.name, entrant.name(), seed, steps + k * kLateEvery));
    }
    const double before = thread_seconds();
    ensemble.advance(*sampler, kLateEvery, add);
    course.late_seconds += thread_seconds() - before;
    const RowBuffer<Symbol> now = states_of(ensemble, target.domain().dim());
    course.late_log_mmd.push_back(std::log(reference.squared(now.view()).v_statistic));
  }
  return course;
}

}  // namespace

Rows<const Symbol> Machine::reference() const {
  return some_rows(samples, 0, kReference);
}

Rows<const Symbol> Machine::second() const {
  return some_rows(samples, kReference, kSecond);
}

RowBuffer<Symbol> Machine::start_states(std::uint64_t seed) const {
  if (!start.view()) return independent_bits(mean, kStart, 0, seed);
  return gathered(kStart, start.view().cols, [&](int r) { return start.view()[r]; });
}

Machine trained_machine(Context& context, Rows<const Symbol> data, const Effort& effort,
                        std::uint64_t seed) {
  Machine machine;
  machine.name = "trained";
  machine.whole = effort == Effort{};
  machine.mean = clipped_means(data);
  const Stopwatch training;
  machine.target = train(context, data, effort.iterations, seed);
  machine.training_seconds = training.seconds();
  const Stopwatch sampling;
  machine.samples = block_gibbs_samples(context, machine, effort.sweeps, seed);
  machine.sampling_seconds = sampling.seconds();
  return machine;
}

std::optional<Machine> published_machine(const std::filesystem::path& data) {
  try {
    RbmReference read = load_rbm_reference(data);
    Machine machine;
    machine.name = "reference";
    machine.target = std::make_unique<Rbm>(std::move(read.weights), std::move(read.visible_bias),
                                           std::move(read.hidden_bias));
    machine.mean = std::move(read.init_mean);
    machine.samples = std::move(read.block_gibbs);
    machine.start = std::move(read.start);
    return machine;
  } catch (const FileError&) {
    return {};
  }
}

Floor floor_of(const Machine& machine, const MmdReference& reference, std::uint64_t seed) {
  Floor floor{};
  floor.second_set = std::log(reference.squared(machine.second()).v_statistic);
  floor.formula =
      std::log(mmd_floor(Machine::kSecond, Machine::kReference, reference.mean_kernel()));
  std::vector<double> splits;
  for (std::uint32_t k = 0; k < 50; ++k) {
    const RowBuffer<Symbol> all = shuffled(machine.samples, seed, k);
    const MmdReference y(some_rows(all, 0, Machine::kReference));
    const Rows<const Symbol> x = some_rows(all, Machine::kReference, Machine::kSecond);
    splits.push_back(std::log(y.squared(x).v_statistic));
  }
  const Measured m = measured(splits);
  floor.mean = m.mean;
  floor.sd = m.sd;
  return floor;
}

double Course::mean(const std::vector<double>& values, std::uint64_t from, std::uint64_t to) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(from / kMmdEvery),
             last = values.begin() + static_cast<std::ptrdiff_t>(to / kMmdEvery);
  return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

double Course::log_mmd_after(double wanted) const {
  const auto index = [](double points, const std::vector<double>& values) {
    const auto end = static_cast<double>(values.size()) - 1;
    return static_cast<std::size_t>(std::clamp(std::round(points) - 1, 0.0, end));
  };
  const double beyond = wanted - static_cast<double>(steps());
  if (beyond < kLateEvery / 2.0 || late_log_mmd.empty()) {
    return log_mmd[index(wanted / kMmdEvery, log_mmd)];
  }
  return late_log_mmd[index(beyond / kLateEvery, late_log_mmd)];
}

Measured Standing::log_mmd() const {
  return over_runs(runs, [](const Course& c) { return c.log_mmd.back(); });
}

Measured Standing::seconds() const {
  return over_runs(runs, &Course::seconds);
}

Measured Standing::seconds_per_step() const {
  return over_runs(runs, &Course::seconds_per_step);
}

double Race::equal_time() const {
  return static_cast<double>(steps) * of("DMALA 0.2").seconds_per_step().mean;
}

Measured Race::difference(const std::string& ours, const std::string& theirs, bool in_time) const {
  const auto steps_of = [&](const Standing& s) {
    return in_time ? equal_time() / s.seconds_per_step().mean : static_cast<double>(steps);
  };
  const Standing &a = of(ours), &b = of(theirs);
  const double steps_a = steps_of(a), steps_b = steps_of(b);
  return over_pairs(a.runs, b.runs, [&](const Course& x, const Course& y) {
    return x.log_mmd_after(steps_a) - y.log_mmd_after(steps_b);
  });
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
    MmdReference samples(machine.reference());
    const Floor floor = floor_of(machine, samples, context.seed(0));
    races.push_back({&machine, std::move(samples), floor, steps});
    for (const Entrant& entrant : field()) {
      if (aside(entrant) && !machine.shown) continue;
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
    standing->runs[run] = run_course(context, *race->machine, race->samples, standing->entrant,
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
