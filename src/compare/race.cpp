#include "saltus/compare/race.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/anneal/annealing.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/temper/parallel_tempering.hpp"

namespace saltus {
namespace {

constexpr int kMostCoordinates = 256;
constexpr double kLadder = 9;  // steps of a scan, about, while the length of a ladder is found
constexpr std::uint64_t kMostTemperedWarmup = 2000;
constexpr std::uint64_t kForever = std::uint64_t{1} << 50;  // draws

std::vector<int> spread_coordinates(int dim) {
  const int count = std::min(dim, kMostCoordinates);
  std::vector<int> list;
  for (int c = 0; c < count; ++c) list.push_back(static_cast<int>(std::int64_t{c} * dim / count));
  return list;
}

// Is there work left, after a round? By the processor's time, so that every contender gets as much
// whatever else the machine does; but it waits no longer than kMostWait times as long and a pause.
constexpr double kMostWait = 4, kPause = 0.5;
bool within(const RunStatus& status, double seconds) {
  return status.idle_seconds < seconds && status.seconds < kMostWait * seconds + kPause;
}

// Goes on, round by round, until it has worked for `seconds`.
void go_for(DrawingRun& run, double seconds) {
  run.go([&](const RunStatus& status) { return within(status, seconds); });
}

// Recording a draw takes about this long per coordinate and chain, and shall take at most a tenth
// of the time.
std::uint64_t thin_for(double steps_per_second, int chains, std::size_t coordinates) {
  const double record = 0.3e-9 * static_cast<double>(coordinates) + 10e-9;
  return static_cast<std::uint64_t>(std::clamp(10 * record * chains * steps_per_second, 1.0, 1e6));
}

}  // namespace

double steps_per_second(const Target& target, const Contender& contender, RunPlan plan,
                        double seconds) {
  plan.warmup = 0;
  plan.draws = kForever;
  plan.round_seconds = seconds / 4;
  Run run(target, make_sampler(contender.sampler, target, contender.settings), plan);
  run.start();
  go_for(run, seconds);
  const RunStatistics s = run.statistics();
  return static_cast<double>(s.steps) / s.idle_seconds_of_draws;
}

std::string Contender::name() const {
  return sampler + (tempered ? " tempered" : "");
}

std::string Contender::label() const {
  std::string text = sampler;
  for (const auto& [key, value] : settings) text += ":" + key + "=" + value;
  return text + (tempered ? " tempered" : "");
}

double RaceResult::rhat() const {
  double worst = NAN;
  for (const double r : estimate.rhat) worst = std::fmax(worst, r);
  return worst;
}

bool RaceResult::mixed() const {
  return ess() >= kLeastEss && !(rhat() > kMostRhat) && !wrong;
}

Settings RaceResult::settings() const {
  if (contender.tempered) return contender.settings;
  Settings all = as_settings(contender.sampler, parameters);
  all.insert(contender.settings.begin(), contender.settings.end());
  std::erase_if(all, [](const auto& s) { return s.first.ends_with("adapt"); });
  return all;
}

Contender parse_contender(const std::string& text) {
  Contender c;
  std::size_t at = text.find(':');
  c.sampler = text.substr(0, at);
  while (at != std::string::npos) {
    const std::size_t next = text.find(':', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
      throw UsageError("'" + text + "': expected NAME or NAME:KEY=VALUE");
    }
    c.settings[part.substr(0, equals)] = part.substr(equals + 1);
    at = next;
  }
  return c;
}

std::vector<Contender> all_contenders(const Target& target) {
  std::vector<Contender> list;
  for (const std::string& name : samplers_for(target)) list.push_back({name, {}});
  return list;
}

Racer::Racer(const Target& target, const Contender& contender, const RacePlan& plan, double slice)
    : target_(target), contender_(contender) {
  const std::vector<int> coordinates = spread_coordinates(target.domain().dim());
  RunPlan run_plan;
  run_plan.chains = plan.chains;
  run_plan.start = Start::dispersed;
  run_plan.seed = plan.seed;
  run_plan.threads = plan.threads;
  double rate = steps_per_second(target, contender, run_plan, plan.warmup_seconds / 20);
  if (contender.tempered) rate /= kLadder;
  run_plan.thin = thin_for(rate, plan.chains, coordinates.size());
  auto sampler = make_sampler(contender.sampler, target, contender.settings);
  // What is tuned may become much slower than it was at first: many short tuning rounds, so that
  // the clock can end them.
  const double most = sampler->tunable() ? 2000 : 1e9;
  run_plan.warmup = static_cast<std::uint64_t>(std::clamp(rate * plan.warmup_seconds, 50.0, most));
  run_plan.draws = kForever;
  run_plan.round_seconds = slice / 8;
  record_ = std::make_unique<BatchMeans>(target.domain(), plan.chains, coordinates);
  if (contender.tempered) {
    run_plan.warmup = std::min<std::uint64_t>(run_plan.warmup, kMostTemperedWarmup);
    auto base = plan.base;
    if (!base) base = std::make_shared<Independent>(Independent::uniform(target));
    run_ = std::make_unique<ParallelTempering>(target, base, std::move(sampler), run_plan,
                                               TemperingPlan{});
    run_->add(*record_);
    run_->go([](const RunStatus& status) { return status.warming_up; });
    return;
  }
  auto run = std::make_unique<Run>(target, std::move(sampler), run_plan);
  run->add(*record_);
  run->start();
  run->go([&](const RunStatus& status) {
    return status.step < run_plan.warmup && within(status, 2 * plan.warmup_seconds);
  });
  run->end_warmup();
  run_ = std::move(run);
}

Racer::~Racer() = default;

void Racer::draw(double seconds) {
  go_for(*run_, seconds);
}

const Sampler& Racer::sampler() const {
  return run_->sampler();
}

RaceResult Racer::result() const {
  const Sampler& s = run_->sampler();
  RaceResult r;
  r.contender = contender_;
  r.parameters = s.parameters();
  r.exact = s.exact(), r.random = s.random(), r.enumerable = s.enumerable() != nullptr;
  r.statistics = run_->statistics();
  r.warmup = run_->plan().warmup, r.thin = run_->plan().thin, r.draws = run_->draws_made();
  r.coordinates.assign(record_->coordinates().begin(), record_->coordinates().end());
  r.estimate = record_->estimate();
  r.log_ess_error = record_->log_ess_error();
  const RunStatistics& st = r.statistics;
  const double alone = std::max(0.0, st.logp_evaluations - st.gradient_evaluations);
  r.evaluations_per_step = run_->plan().chains * (st.gradient_evaluations + alone / 2 +
                                                  st.local_differences / target_.domain().dim());
  if (const auto* tempering = dynamic_cast<const ParallelTempering*>(run_.get())) {
    const TemperingReport report = tempering->report();
    r.replicas = static_cast<int>(report.betas.size());
    r.round_trips = report.round_trips;
  }
  return r;
}

std::vector<RaceResult> race(const Target& target, const std::vector<Contender>& contenders,
                             const RacePlan& plan, const RaceProgress& progress) {
  const double slice = plan.seconds / plan.turns;
  std::vector<std::unique_ptr<Racer>> racers(contenders.size());
  bool go_on = true;
  for (int turn = 0; turn < plan.turns && go_on; ++turn) {
    for (std::size_t c = 0; c < contenders.size() && go_on; ++c) {
      go_on = !progress || progress(contenders[c].label(), turn, plan.turns);
      if (!racers[c]) racers[c] = std::make_unique<Racer>(target, contenders[c], plan, slice);
      racers[c]->draw(slice);
    }
  }
  std::vector<RaceResult> results;
  for (const auto& racer : racers) {
    if (racer) results.push_back(racer->result());
  }
  return results;
}

Verdict judge(const std::vector<RaceResult>& results, double (RaceResult::*measure)() const) {
  std::vector<int> order;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RaceResult& r = results[i];
    if (r.exact && r.random && r.mixed() && (r.*measure)() > 0)
      order.push_back(static_cast<int>(i));
  }
  const auto value = [&](int i) { return (results[static_cast<std::size_t>(i)].*measure)(); };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return value(a) > value(b); });
  Verdict v;
  if (order.empty()) return v;
  v.best = order[0];
  if (order.size() < 2) return v;
  v.second = order[1];
  const double a = results[static_cast<std::size_t>(v.best)].log_ess_error;
  const double b = results[static_cast<std::size_t>(v.second)].log_ess_error;
  // Student's t with about as many degrees of freedom as a jackknife over eight chains gives.
  const double reach = 2.4 * std::sqrt(a * a + b * b);
  v.ratio = value(v.best) / value(v.second);
  v.low = v.ratio * std::exp(-reach), v.high = v.ratio * std::exp(reach);
  return v;
}

bool Verdict::telling() const {
  constexpr double kWide = 2;
  return low > 0 && high < kWide * low;
}

int leader(const std::vector<RaceResult>& results) {
  int best = -1;
  double most = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RaceResult& r = results[i];
    if (!r.exact || !r.random || !(r.ess_per_second() > most)) continue;
    best = static_cast<int>(i), most = r.ess_per_second();
  }
  return best;
}

bool misses_exact_means(const Target& target, const RaceResult& r) {
  if (target.stochastic() || target.domain().unbounded() ||
      !count_states(target, StateTable::kMostStates)) {
    return false;
  }
  // Standard errors from the exact mean that chance does not explain, and effective draws from
  // which on a standard error is trusted.
  constexpr double kFarFromExact = 6, kEnough = 100;
  const StateTable table(target);
  const Domain& domain = target.domain();
  for (std::size_t c = 0; c < r.coordinates.size(); ++c) {
    const int i = r.coordinates[c];
    double mean = 0, square = 0;
    for (std::size_t s = 0; s < table.size(); ++s) {
      const double v = domain.value(table.state(s)[i]);
      mean += table.probability()[s] * v;
      square += table.probability()[s] * v * v;
    }
    const double ess = r.estimate.ess[c];
    const double errors =
        std::abs(r.estimate.mean[c] - mean) / std::sqrt(std::max(0.0, square - mean * mean) / ess);
    if (errors * std::min(1.0, ess / kEnough) > kFarFromExact) return true;
  }
  return false;
}

namespace {

bool can_be_tempered(const Target& target, const RaceResult& r) {
  if (!r.exact || !r.random || target.stochastic() || target.domain().unbounded()) return false;
  try {
    const Tempered path(target, Independent::uniform(target));
    const auto sampler = make_sampler(r.contender.sampler, path, r.contender.settings);
    check_annealing(*sampler, path);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

std::string sign_of_modes(const Target& target, const std::vector<RaceResult>& plain,
                          std::size_t best) {
  char text[80];
  if (const double rhat = plain[best].rhat(); rhat > RaceResult::kMostRhat) {
    std::snprintf(text, sizeof text, "plain chains disagree (R-hat %.3g)", rhat);
    return text;
  }
  if (misses_exact_means(target, plain[best])) return "plain chains miss the exact means";
  std::size_t all = 0, disagree = 0;
  for (const RaceResult& r : plain) {
    if (!r.exact || !r.random) continue;
    ++all;
    disagree += r.rhat() > RaceResult::kMostRhat;
  }
  if (2 * disagree <= all) return "";
  std::snprintf(text, sizeof text, "plain chains of %zu of %zu samplers disagree", disagree, all);
  return text;
}

std::optional<RaceResult> race_tempered(const Target& target,
                                        const std::vector<RaceResult>& results,
                                        const RacePlan& plan, const RaceProgress& progress) {
  const RaceResult* best = nullptr;
  // Chains that have not mixed say nothing of the samplers: then whoever tries most.
  const bool known = std::ranges::any_of(results, [](const RaceResult& r) { return r.mixed(); });
  const auto merit = [&](const RaceResult& r) {
    const RunStatistics& s = r.statistics;
    const double tried = s.proposed * static_cast<double>(s.steps) / s.idle_seconds_of_draws;
    return std::fmax(0, known ? r.ess_per_second() : tried);
  };
  for (const RaceResult& r : results) {
    if (!can_be_tempered(target, r) || (best && merit(r) <= merit(*best))) continue;
    best = &r;
  }
  if (!best) return std::nullopt;
  Contender contender = best->contender;
  contender.tempered = true;
  if (progress && !progress(contender.label(), plan.turns - 1, plan.turns)) return std::nullopt;
  Racer racer(target, contender, plan, plan.seconds / plan.turns);
  racer.draw(plan.seconds);
  return racer.result();
}

}  // namespace saltus
