#include "cli/learn/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

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

std::string line_of(const LearnStatus& status) {
  const auto done = static_cast<double>(status.totals.iterations);
  if (status.validated >= 0) {
    return fmt::format("validation after {} iterations {:5.1f} %",
                       with_commas(status.totals.iterations), 100 * status.validated);
  }
  const double rate = (done - static_cast<double>(status.first)) / status.seconds;
  const double left = (static_cast<double>(status.planned) - done) / rate;
  return fmt::format("learning {:5.1f} %  {} left  {}  {} ms per iteration",
                     100 * done / static_cast<double>(status.planned), duration(left),
                     state_text(status.totals.recent), short_number(1e3 / rate));
}

void print_report(const LearnCommand& command, const LearnRequest& r, const LearnResult& result) {
  const LearnTotals& t = result.totals;
  const auto count = [](int n) { return with_commas(static_cast<std::uint64_t>(n)); };
  show_row("model", r.kind == "rbm"
                        ? fmt::format("rbm, {} visible and {} hidden units", count(r.data.cols),
                                      count(r.hidden))
                        : fmt::format("ising, {} spins, all couplings{}", count(r.data.cols),
                                      r.fields ? " and fields" : ""));
  show_row("data", fmt::format("{}, {} rows", command.data, count(r.data.rows)));
  show_row("method", method_text(r));
  show_row("learned",
           fmt::format("{} iterations, {} times through the data, in {}", with_commas(t.iterations),
                       short_number(result.epochs), duration(t.seconds())));
  const double whole = t.seconds() > 0 ? t.seconds() / 100 : 1;
  show_row("time", fmt::format("sampling {:.0f} %, gradient {:.0f} %, update {:.0f} %",
                               t.sampling_seconds / whole, t.gradient_seconds / whole,
                               t.update_seconds / whole));
  show_row("now", state_text(t.recent));
  show_row("written", command.out);
}

nlohmann::ordered_json report_json(const LearnCommand& command, const LearnRequest& r,
                                   const LearnResult& result) {
  const LearnTotals& t = result.totals;
  nlohmann::ordered_json j;
  j["model"] = r.kind;
  j["dim"] = r.data.cols;
  if (r.kind == "rbm") j["hidden"] = r.hidden;
  if (r.kind == "ising") j["fields"] = r.fields;
  j["rows"] = r.data.rows;
  j["batch"] = r.plan.batch;
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(result.parameters);
  j["persistent_chains"] = r.plan.chains;
  j["steps"] = r.plan.steps;
  j["lr"] = r.plan.adam.rate;
  j["l1"] = r.plan.l1;
  j["seed"] = r.plan.seed;
  j["iterations"] = t.iterations;
  j["epochs"] = result.epochs;
  j["loss"] = json_number(t.recent.loss);
  j["gap"] = json_number(t.recent.gap);
  j["reconstruction_error"] = json_number(t.recent.difference);
  j["acceptance_rate"] = json_number(t.recent.acceptance);
  j["proposed_changes"] = json_number(t.recent.proposed);
  j["changes"] = json_number(t.recent.changed);
  j["seconds"] = {{"sampling", t.sampling_seconds},
                  {"gradient", t.gradient_seconds},
                  {"update", t.update_seconds}};
  j["out"] = command.out;
  j["complete"] = result.complete;
  j["version"] = version();
  return j;
}

}  // namespace saltus::cli
