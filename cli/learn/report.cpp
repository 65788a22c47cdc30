#include "cli/learn/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

constexpr double kForget = 0.05;  // weight of the latest iteration

// "loss -14.2, reconstruction error 0.11": what there is to say of the recent iterations.
std::string state_text(const LearningInfo& recent) {
  std::string text = fmt::format("loss {}", short_number(recent.loss));
  if (std::isnan(recent.difference)) {
    return text +
           fmt::format("  acceptance {:.3f}  changes {:.1f}", recent.acceptance, recent.changed);
  }
  return text + fmt::format("  reconstruction error {:.4f}", recent.difference);
}

std::string method_text(const LearnRequest& r) {
  return r.plan.chains > 0
             ? fmt::format("persistent contrastive divergence, {} chains x {} steps of {}",
                           with_commas(static_cast<std::uint64_t>(r.plan.chains)),
                           with_commas(r.plan.steps), r.sampler)
             : fmt::format("contrastive divergence, {} steps of {}", with_commas(r.plan.steps),
                           r.sampler);
}

}  // namespace

void LearnTotals::add(const LearningInfo& info) {
  ++iterations;
  const double weight = std::max(kForget, 1 / static_cast<double>(iterations));
  const auto follow = [&](double& mean, double value) { mean += weight * (value - mean); };
  follow(recent.gap, info.gap);
  follow(recent.loss, info.loss);
  follow(recent.difference, info.difference);
  follow(recent.acceptance, info.acceptance);
  follow(recent.proposed, info.proposed);
  follow(recent.changed, info.changed);
  sampling_seconds += info.sampling_seconds;
  gradient_seconds += info.gradient_seconds;
  update_seconds += info.update_seconds;
}

LearnProgress::LearnProgress(std::uint64_t done, std::uint64_t planned)
    : first_(done), planned_(planned) {}

void LearnProgress::tell(const std::string& line, double seconds) {
  if (line_.due(seconds)) line_.show(line);
}

void LearnProgress::update(const LearnTotals& totals, double seconds) {
  if (!line_.due(seconds)) return;
  const auto done = static_cast<double>(totals.iterations);
  const double rate = (done - static_cast<double>(first_)) / seconds;
  const double left = (static_cast<double>(planned_) - done) / rate;
  line_.show(fmt::format("learning {:5.1f} %  {} left  {}  {} ms per iteration",
                         100 * done / static_cast<double>(planned_), duration(left),
                         state_text(totals.recent), short_number(1e3 / rate)));
}

void print_report(const LearnReport& report) {
  const LearnRequest& r = report.request;
  const LearnTotals& t = report.totals;
  const auto row = [](const char* name, const std::string& value) {
    show("{:<12} {}\n", name, value);
  };
  const auto count = [](int n) { return with_commas(static_cast<std::uint64_t>(n)); };
  row("model", r.kind == "rbm" ? fmt::format("rbm, {} visible and {} hidden units",
                                             count(report.dim), count(r.hidden))
                               : fmt::format("ising, {} spins, all couplings{}", count(report.dim),
                                             r.fields ? " and fields" : ""));
  row("data", fmt::format("{}, {} rows", r.data, count(report.rows)));
  row("method", method_text(r));
  row("learned",
      fmt::format("{} iterations, {} times through the data, in {}", with_commas(t.iterations),
                  short_number(report.learning.batches().epochs(t.iterations)),
                  duration(t.seconds())));
  const double whole = t.seconds() > 0 ? t.seconds() / 100 : 1;
  row("time", fmt::format("sampling {:.0f} %, gradient {:.0f} %, update {:.0f} %",
                          t.sampling_seconds / whole, t.gradient_seconds / whole,
                          t.update_seconds / whole));
  row("now", state_text(t.recent));
  row("written", r.out);
}

nlohmann::ordered_json report_json(const LearnReport& report) {
  const LearnRequest& r = report.request;
  const LearnTotals& t = report.totals;
  nlohmann::ordered_json j;
  j["model"] = r.kind;
  j["dim"] = report.dim;
  if (r.kind == "rbm") j["hidden"] = r.hidden;
  if (r.kind == "ising") j["fields"] = r.fields;
  j["rows"] = report.rows;
  j["batch"] = r.plan.batch;
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(report.learning.sampler().parameters());
  j["persistent_chains"] = r.plan.chains;
  j["steps"] = r.plan.steps;
  j["lr"] = r.plan.adam.rate;
  j["l1"] = r.plan.l1;
  j["seed"] = r.plan.seed;
  j["iterations"] = t.iterations;
  j["epochs"] = report.learning.batches().epochs(t.iterations);
  j["loss"] = json_number(t.recent.loss);
  j["gap"] = json_number(t.recent.gap);
  j["reconstruction_error"] = json_number(t.recent.difference);
  j["acceptance_rate"] = json_number(t.recent.acceptance);
  j["proposed_changes"] = json_number(t.recent.proposed);
  j["changes"] = json_number(t.recent.changed);
  j["seconds"] = {{"sampling", t.sampling_seconds},
                  {"gradient", t.gradient_seconds},
                  {"update", t.update_seconds}};
  j["out"] = r.out;
  j["complete"] = report.complete;
  j["version"] = version();
  return j;
}

}  // namespace saltus::cli
