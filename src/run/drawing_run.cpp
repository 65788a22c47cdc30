// What all runs that draw in rounds have in common.
#include <algorithm>
#include <chrono>
#include <limits>

#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kStillSteps = 100;  // a chain that moves less often stands still
constexpr std::size_t kRoundBytes = std::size_t{32} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

DrawingRun::DrawingRun(const RunPlan& plan)
    : plan_(plan),
      totals_(static_cast<std::size_t>(std::max(0, plan.chains))),
      round_acceptance_(totals_.size()) {
  if (plan_.thin < 1) throw UsageError("thin must be at least 1");
}

std::uint64_t DrawingRun::draws_made() const {
  return warming_up() ? 0 : (step() - plan_.warmup) / plan_.thin;
}

bool DrawingRun::go(const std::function<bool(const RunStatus&)>& between_rounds) {
  if (!started_) start();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t steps = plan_.warmup + plan_.draws * plan_.thin;
  double idle_seconds = 0;
  while (step() < steps) {
    const bool warming = warming_up();
    const std::uint64_t before = step();
    const auto round_start = std::chrono::steady_clock::now();
    const double processor_start = processor_seconds();
    std::fill(round_acceptance_.begin(), round_acceptance_.end(), 0.0);
    if (warming) {
      warmup_round();
    } else {
      const std::uint64_t length = round_length(steps - before, plan_.thin);
      for (Recorder* r : recorders_) r->begin_round(length / plan_.thin);
      draw_round(length);
      for (Recorder* r : recorders_) r->end_round();
    }
    round_seconds_ = seconds_since(round_start);
    seconds_ += round_seconds_;
    const double idle_round_seconds =
        on_device() ? round_seconds_ : (processor_seconds() - processor_start) / threads();
    idle_seconds += idle_round_seconds;
    if (!warming) {
      seconds_of_draws_ += round_seconds_;
      idle_seconds_of_draws_ += idle_round_seconds;
    }
    const auto done = static_cast<double>(step() - before);
    const RunStatus status{warming,
                           step(),
                           steps,
                           seconds_since(start),
                           idle_seconds,
                           done / round_seconds_,
                           acceptance_of_round() / (done * steps_each())};
    if (between_rounds && !between_rounds(status)) break;
  }
  return step() >= steps;
}

// A round that takes about plan_.round_seconds, in units of `unit` steps. Its length depends on the
// clock, but no draw depends on its length.
std::uint64_t DrawingRun::round_length(std::uint64_t left, std::uint64_t unit) {
  std::uint64_t length = round_steps_;
  if (round_seconds_ < plan_.round_seconds / 2) length *= 2;
  if (round_seconds_ > plan_.round_seconds * 2) length /= 2;
  std::size_t bytes = 1;
  for (const Recorder* r : recorders_) bytes += r->bytes_per_draw();
  length = std::min<std::uint64_t>(length, std::max<std::uint64_t>(1, kRoundBytes / bytes) * unit);
  round_steps_ = std::min(left, std::max<std::uint64_t>(1, length / unit) * unit);
  // All members of a team make the same rounds.
  if (plan_.team) round_steps_ = plan_.team->share_value(round_steps_);
  return round_steps_;
}

bool DrawingRun::recorders_want_logp() const {
  return std::ranges::any_of(recorders_, [](const Recorder* r) { return r->wants_logp(); });
}

// Summed over steps, averaged over chains; in the order of the chains, so that it never depends on
// which thread ran which tile.
double DrawingRun::acceptance_of_round() const {
  double sum = 0;
  for (double a : round_acceptance_) sum += a;
  return sum / static_cast<double>(round_acceptance_.size());
}

Evaluations DrawingRun::all_evaluations() const {
  Evaluations e = evaluations();
  e.logp += evaluations_before_.logp;
  e.gradient += evaluations_before_.gradient;
  e.local += evaluations_before_.local;
  if (!plan_.team) return e;
  Evaluations all;
  const std::vector<double> of_members = plan_.team->gather(std::vector{
      static_cast<double>(e.logp), static_cast<double>(e.gradient), static_cast<double>(e.local)});
  for (std::size_t k = 0; k < of_members.size(); k += 3) {
    all.logp += static_cast<std::uint64_t>(of_members[k]);
    all.gradient += static_cast<std::uint64_t>(of_members[k + 1]);
    all.local += static_cast<std::uint64_t>(of_members[k + 2]);
  }
  return all;
}

RunStatistics DrawingRun::statistics() const {
  RunStatistics s;
  s.seconds = seconds_;
  s.seconds_of_draws = seconds_of_draws_;
  s.idle_seconds_of_draws = idle_seconds_of_draws_;
  s.steps = warming_up() ? 0 : (step() - plan_.warmup) * static_cast<std::uint64_t>(steps_each());
  const double n = static_cast<double>(s.steps) * plan_.chains;
  for (const ChainTotals& t : totals_) {
    s.acceptance += t.acceptance;
    s.accepted += static_cast<double>(t.accepted);
    s.proposed += static_cast<double>(t.proposed);
    s.changed += static_cast<double>(t.changed);
    s.empty += static_cast<double>(t.empty);
    s.moved += static_cast<double>(t.moved);
    s.still_chains += s.steps >= kStillSteps && t.moved * kStillSteps < s.steps;
    s.nonfinite += t.nonfinite;
  }
  for (double* sum : {&s.acceptance, &s.accepted, &s.proposed, &s.changed, &s.empty, &s.moved}) {
    *sum /= n;
  }
  const Evaluations e = all_evaluations();
  s.logp_evaluations = static_cast<double>(e.logp) / n;
  s.gradient_evaluations = static_cast<double>(e.gradient) / n;
  s.local_differences = static_cast<double>(e.local) / n;
  return s;
}

void DrawingRun::save_totals(ByteWriter& out) const {
  out.begin_units();
  for (const ChainTotals& t : totals_) {
    out.put(t);
    out.end_unit();
  }
  out.end_units();
  out.put(all_evaluations(), seconds_, seconds_of_draws_);
  for (const Recorder* r : recorders_) r->save(out);
}

void DrawingRun::restore_totals(ByteReader& in) {
  ByteReader chains = in.units(totals_.size());
  for (ChainTotals& t : totals_) chains.get(t);
  in.get(evaluations_before_, seconds_, seconds_of_draws_);
  if (plan_.team && !plan_.team->leads()) evaluations_before_ = {};
  for (Recorder* r : recorders_) r->restore(in);
}

}  // namespace saltus
