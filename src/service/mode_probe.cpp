// Searches that begin far from the chains, to see whether the chains have missed a mode.
//
// Each search is annealed from a draw of the base to the model and then takes some steps there. It
// speaks against the draws when its state is further from the nearest draw than any draw is from
// the nearest draw of other chains, by many standard deviations, and yet no less probable than
// draws are; or when it is far more probable than every draw. A search that has not reached
// equilibrium ends in improbable states, and says nothing.
#include <algorithm>
#include <cmath>

#include "saltus/anneal.hpp"
#include "saltus/anneal/annealing.hpp"
#include "saltus/core/error.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

constexpr int kSearches = 32;
constexpr std::uint64_t kOwnSeed = 0x9e3779b97f4a7c15;  // searches differ from the chains
// Betas of a search: of a tenth of the run's steps, within limits; at most half of its steps.
constexpr double kShare = 0.1, kMostShare = 0.5;
constexpr int kLeastBetas = 50, kMostBetas = 2000;
constexpr std::size_t kFewDraws = 100;  // of all chains: too few to say what is far from them
constexpr int kMostCompared = 128, kLeastCompared = 16;
constexpr double kComparisons = 2e8;  // symbols compared at most
constexpr double kFar = 6;            // standard deviations
constexpr double kMuchHigher = 5;     // of log p, beyond the spread of the draws

int betas_of(const SampleRequest& request) {
  const RunPlan& plan = request.plan;
  const double steps = static_cast<double>(plan.warmup) +
                       static_cast<double>(plan.draws) * static_cast<double>(plan.thin);
  const double all = steps * plan.chains / kSearches;
  const int wanted =
      static_cast<int>(std::clamp(kShare * all, double{kLeastBetas}, double{kMostBetas}));
  return kMostShare * all < wanted ? 0 : wanted;
}

// What moves well at every temperature: sweeps where they are cheap, otherwise dmala as tuned.
std::shared_ptr<const Sampler> search_sampler(const Tempered& path, const SampleResult& result) {
  SamplerChoice choice = recommended_search_sampler(path.model());
  for (const Parameter& p : result.parameters) {
    const auto* value = std::get_if<double>(&p.value);
    if (choice.name == "dmala" && p.name == "step_size" && value) {
      choice.settings["step_size"] = std::to_string(*value);
    }
  }
  auto sampler = make_sampler(choice.name, path, choice.settings);
  check_annealing(*sampler, path);
  return sampler;
}

struct Found {
  RowBuffer<Symbol> states;  // of the coordinates that draws hold
  std::vector<double> logp;
};

AnnealingPlan search_plan(const SampleRequest& request, int betas) {
  AnnealingPlan plan;
  plan.betas = linear_betas(betas);
  plan.chains = kSearches;
  plan.seed = request.plan.seed ^ kOwnSeed;
  plan.threads = request.plan.threads;
  return plan;
}

RowBuffer<Symbol> annealed_states(const SampleRequest& request, const SampleResult& result,
                                  const AnnealingPlan& plan) {
  const Target& target = *request.target;
  const auto base = std::make_shared<Independent>(
      request.model_base ? *request.model_base : Independent::uniform(target));
  const Tempered path(target, base);
  const auto sampler = search_sampler(path, result);
  Annealing annealing(path, *sampler, plan, Annealing::Direction::forward);
  annealing.start();
  annealing.go();
  const int dim = target.domain().dim();
  RowBuffer<Symbol> states(kSearches, dim);
  for (int c = 0; c < kSearches; ++c) std::copy_n(annealing.state(c), dim, states.view()[c]);
  return states;
}

// After some steps of the model alone.
void settle(const Target& target, const AnnealingPlan& plan, RowBuffer<Symbol>& states) {
  RunPlan settling;
  settling.chains = kSearches;
  settling.warmup = 0;
  settling.draws = plan.betas.size() / 2;
  settling.seed = plan.seed + 1;
  settling.threads = plan.threads;
  SamplerChoice choice = recommended_search_sampler(target);
  if (choice.name == "dmala") choice.settings = {{"step_size", "0.1"}};
  Run run(target, make_sampler(choice.name, target, choice.settings), settling);
  run.start(states.view());
  run.go();
  const int dim = target.domain().dim();
  for (int c = 0; c < kSearches; ++c) std::copy_n(run.state(c), dim, states.view()[c]);
}

std::vector<double> logp_of(const Target& target, Rows<const Symbol> states) {
  std::vector<double> logp(static_cast<std::size_t>(states.rows));
  Scratch scratch;
  target.evaluate({0, 0, scratch}, states, logp.data(), {});
  return logp;
}

Found search(const SampleRequest& request, const SampleResult& result, int betas) {
  const Target& target = *request.target;
  const AnnealingPlan plan = search_plan(request, betas);
  RowBuffer<Symbol> states = annealed_states(request, result, plan);
  settle(target, plan, states);
  const std::vector<int>& kept = result.kept;
  const int columns = kept.empty() ? target.domain().dim() : static_cast<int>(kept.size());
  Found found{RowBuffer<Symbol>(kSearches, columns), logp_of(target, states.view())};
  for (int c = 0; c < kSearches; ++c) {
    for (int k = 0; k < columns; ++k) {
      const int i = kept.empty() ? k : kept[static_cast<std::size_t>(k)];
      found.states.view()[c][k] = states.view()[c][i];
    }
  }
  return found;
}

// Draws spread over all chains, and the range of their log p.
struct Sample {
  Sample(int count, int dim) : states(count, dim), chain(static_cast<std::size_t>(count)) {}
  RowBuffer<Symbol> states;
  std::vector<int> chain;
  double least = INFINITY, most = -INFINITY;
  void take(std::span<const double> logp) {
    const auto [low, high] = std::ranges::minmax_element(logp);
    least = std::min(least, *low);
    most = std::max(most, *high);
  }
};

// False where the caller keeps states alone.
bool has_logp(const Draws& draws) {
  double first = NAN;
  draws.read_logp(0, 0, {&first, 1});
  return !std::isnan(first);
}

Sample spread_draws(const Draws& draws, const Target& target) {
  const double size = std::sqrt(kComparisons / draws.dim());
  const int count = static_cast<int>(std::clamp(
      size, double{kLeastCompared},
      std::min<double>(kMostCompared, static_cast<double>(draws.draws()) * draws.chains())));
  Sample sample(count, draws.dim());
  const auto all = static_cast<std::size_t>(draws.chains()) * draws.draws();
  for (int k = 0; k < count; ++k) {
    const std::size_t place = all * static_cast<std::size_t>(k) / static_cast<std::size_t>(count);
    const auto chain = static_cast<int>(place / draws.draws());
    sample.chain[static_cast<std::size_t>(k)] = chain;
    draws.read_states(chain, place % draws.draws(),
                      {sample.states.view()[k], 1, draws.dim(), draws.dim()});
  }
  if (!has_logp(draws)) {
    sample.take(logp_of(target, sample.states.view()));
    return sample;
  }
  std::vector<double> logp(draws.draws());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    draws.read_logp(chain, 0, logp);
    sample.take(logp);
  }
  return sample;
}

// Coordinates that differ from the nearest draw; draws of `own` chain do not count.
double distance(const Symbol* x, const Sample& sample, int own) {
  int nearest = sample.states.view().cols;
  for (int k = 0; k < sample.states.view().rows; ++k) {
    if (sample.chain[static_cast<std::size_t>(k)] == own) continue;
    int differ = 0;
    for (int i = 0; i < sample.states.view().cols; ++i) {
      differ += x[i] != sample.states.view()[k][i];
    }
    nearest = std::min(nearest, differ);
  }
  return nearest;
}

// Beyond this distance a state is unlike the draws.
double far_from(const Sample& sample, bool one_chain) {
  double sum = 0, squares = 0, most = 0;
  const int count = sample.states.view().rows;
  for (int k = 0; k < count; ++k) {
    const int own = one_chain ? -1 : sample.chain[static_cast<std::size_t>(k)];
    const double d = distance(sample.states.view()[k], sample, own);
    sum += d, squares += d * d;
    most = std::max(most, d);
  }
  const double mean = sum / count;
  return most + kFar * std::sqrt(std::max(0.0, squares / count - mean * mean)) + 1;
}

ModeProbe judge(const Found& found, const Draws& draws, const Target& target) {
  const Sample sample = spread_draws(draws, target);
  const double far = far_from(sample, draws.chains() == 1);
  const double spread = sample.most - sample.least;
  ModeProbe probe;
  probe.searches = kSearches;
  for (int c = 0; c < kSearches; ++c) {
    const double logp = found.logp[static_cast<std::size_t>(c)];
    const double d = distance(found.states.view()[c], sample, -1);
    probe.elsewhere += logp >= sample.least - spread / 2 && d > far;
    probe.higher += logp > sample.most + spread + kMuchHigher;
  }
  return probe;
}

}  // namespace

std::optional<ModeProbe> probe_modes(const SampleRequest& request, const SampleResult& result) {
  const Target& target = *request.target;
  const Draws& draws = *result.draws;
  const int betas = betas_of(request);
  if (result.tempering || betas == 0 || !result.random_sampler || target.stochastic() ||
      target.domain().unbounded() || !(has_logp(draws) || result.kept.empty()) ||
      draws.draws() * static_cast<std::size_t>(draws.chains()) < kFewDraws) {
    return std::nullopt;
  }
  try {
    return judge(search(request, result, betas), draws, target);
  } catch (const DataError&) {  // the model forbids states of the base
    return std::nullopt;
  } catch (const UsageError&) {  // no sampler serves the path
    return std::nullopt;
  }
}

}  // namespace saltus
