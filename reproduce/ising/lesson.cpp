#include "reproduce/ising/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reproduce/chains.hpp"
#include "saltus/core/error.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus::reproduce::ising_learning {
namespace {

constexpr std::uint64_t kDataSeeds = 1'000'000'000;  // the data's chains are not the learner's

// One step of Gibbs-1 draws one site; they are drawn together, which is the same chain.
std::unique_ptr<Sampler> sampler_of(const Entrant& entrant, const Target& target,
                                    std::uint64_t steps) {
  Entrant with_settings = entrant;
  if (entrant.sampler == "gibbs") {
    with_settings.settings = {{"scan", "systematic"}, {"updates", fmt::format("{}", steps)}};
  }
  return with_settings.make(target);
}

IsingLattice lattice(const Scale& scale) {
  return IsingLattice(scale.side, scale.side, true, kCoupling, 0);
}

// The same law as a list of couplings, which draws many chains side by side.
std::unique_ptr<Quadratic> graph(const Scale& scale) {
  const IsingLattice truth = lattice(scale);
  std::array<std::int32_t, 4> room;
  std::vector<Coupling> couplings;
  for (int i = 0; i < truth.domain().dim(); ++i) {
    for (const std::int32_t j : truth.neighbours(i, room.data())) {
      if (i < j) couplings.push_back({i, j, 2 * kCoupling});  // J_ij and J_ji
    }
  }
  return make_ising(truth.domain().dim(), couplings, {});
}

}  // namespace

Scale full_scale() {
  return {25, 2000, 256, 256, 100, 10'000, 20'000, 20, {5, 10, 25, 50, 100}};
}
Scale quick_scale() {
  return {10, 1000, 128, 128, 20, 1200, 2400, 20, {2, 5, 20}};
}

RowBuffer<Symbol> draw_data(Context& context, const Scale& scale, std::uint64_t seed) {
  const std::unique_ptr<Quadratic> truth = graph(scale);
  const auto sweep = make_sampler("gibbs", *truth, {{"scan", "systematic"}, {"updates", "sweep"}});
  Ensemble ensemble(*truth, scale.samples, 16, context.options().threads, kDataSeeds + seed);
  ensemble.start_random();
  ensemble.evaluate();
  constexpr std::uint64_t kPart = 20;
  for (std::uint64_t done = 0; done < kSweeps; done += kPart) {
    context.progress(fmt::format("drawing data, sweep {} of {}", done, kSweeps));
    advance(ensemble, *sweep, kPart);
  }
  return states_of(ensemble, truth->domain().dim());
}

double mean_product(const Scale& scale, Rows<const Symbol> data) {
  const IsingLattice truth = lattice(scale);
  std::vector<double> pairs(static_cast<std::size_t>(data.rows));
  Scratch scratch;
  truth.evaluate({0, 0, scratch}, data, pairs.data(), {});
  return measured(pairs).mean / (2 * kCoupling) / (2 * truth.domain().dim());
}

Truth::Truth(const Scale& scale) {
  const IsingLattice target = lattice(scale);
  const auto spins = static_cast<std::size_t>(target.domain().dim());
  std::array<std::int32_t, 4> room;
  couplings_.resize(spins * spins);
  for (std::size_t i = 0; i < spins; ++i) {
    for (const std::int32_t j : target.neighbours(static_cast<int>(i), room.data())) {
      couplings_[i * spins + static_cast<std::size_t>(j)] = kCoupling;
    }
  }
}

Distance Truth::to(std::span<const float> g) const {
  double edges = 0, edge_errors = 0, others = 0, count = 0;
  for (std::size_t e = 0; e < g.size(); ++e) {
    const double value = double{g[e]};
    if (couplings_[e] > 0) {
      edges += value;
      edge_errors += (value - couplings_[e]) * (value - couplings_[e]);
      ++count;
    } else {
      others += value * value;
    }
  }
  const auto n = static_cast<double>(g.size());
  return {std::log((edge_errors + others) / n) / 2, edges / count, std::sqrt(others / (n - count))};
}

std::size_t Curve::least() const {
  return static_cast<std::size_t>(std::min_element(log_rmse.begin(), log_rmse.end()) -
                                  log_rmse.begin());
}

std::string Curve::turn_text() const {
  return fmt::format("Its error was least, {:.2f}, after {:g} iterations, and grew from there.",
                     log_rmse[least()], iterations[least()]);
}

double Curve::first_at(double value, const std::vector<double>& unit) const {
  for (std::size_t k = 0; k < log_rmse.size(); ++k) {
    if (log_rmse[k] <= value) return unit[k];
  }
  return NAN;
}

double Curve::error_at(double iteration) const {
  std::size_t at = 0;
  while (at + 1 < iterations.size() && iterations[at] < iteration) ++at;
  return log_rmse[at];
}

double Curve::best_until(double moment, const std::vector<double>& unit) const {
  double least = log_rmse[0];
  for (std::size_t k = 0; k < unit.size() && unit[k] <= moment; ++k) {
    least = std::min(least, log_rmse[k]);
  }
  return least;
}

Curve learn(Context& context, const Lesson& lesson, const Entrant& entrant, std::uint64_t steps,
            std::uint64_t iterations) {
  const Scale& scale = lesson.scale;
  TrainableIsing model(scale.side * scale.side, false, {kDeviation, lesson.seed});
  LearningPlan plan;
  plan.batch = scale.batch;
  plan.drop_last = true;
  plan.chains = scale.chains;
  plan.steps = entrant.sampler == "gibbs" ? 1 : steps;
  plan.l1 = kPenalty;
  plan.adam.rate = kRate;
  plan.seed = lesson.seed;
  plan.threads = 1;
  ContrastiveDivergence learner(model, lesson.data, sampler_of(entrant, model.target(), steps),
                                plan);
  Curve curve;
  curve.product = mean_product(scale, lesson.data);
  double seconds = 0;  // without the measuring
  const auto measure = [&] {
    curve.last = lesson.truth.to(model.couplings());
    curve.iterations.push_back(static_cast<double>(learner.iteration()));
    curve.seconds.push_back(seconds);
    curve.log_rmse.push_back(curve.last.log_rmse);
    context.progress(fmt::format("{}, {} steps, iteration {} of {}: log RMSE {:.2f}",
                                 entrant.name(), steps, learner.iteration(), iterations,
                                 curve.last.log_rmse));
  };
  measure();
  try {
    while (learner.iteration() < iterations) {
      const double before = thread_seconds();
      const LearningInfo info = learner.step();
      seconds += thread_seconds() - before;
      curve.acceptance += info.acceptance;
      curve.proposed += info.proposed;
      if (learner.iteration() % scale.every == 0) measure();
    }
  } catch (const DataError& failure) {
    curve.failure = failure.what();
  }
  const auto done = static_cast<double>(std::max<std::uint64_t>(1, learner.iteration()));
  curve.acceptance /= done;
  curve.proposed /= done;
  return curve;
}

Json key_of(const Scale& scale, const Entrant& entrant, std::uint64_t steps,
            std::uint64_t iterations, std::uint64_t seed) {
  Json key = {{"sampler", entrant.sampler}};
  if (!std::isnan(entrant.alpha)) key["alpha"] = entrant.alpha;
  key["steps"] = steps;
  key["iterations"] = iterations;
  key["side"] = scale.side;
  key["samples"] = scale.samples;
  key["chains"] = scale.chains;
  key["batch"] = scale.batch;
  key["seed"] = seed;
  return key;
}

std::string Curve::file_of(const Json& key) {
  std::string name = key["sampler"].get<std::string>();
  if (key.contains("alpha")) name += fmt::format("-{:g}", key["alpha"].get<double>());
  return fmt::format("{}-{}-steps-{}.json", name, key["steps"].get<std::uint64_t>(),
                     key["seed"].get<std::uint64_t>());
}

}  // namespace saltus::reproduce::ising_learning
