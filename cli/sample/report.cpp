#include "cli/sample/report.hpp"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "ops/ops.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

// Standard errors between a mean and the exact one that chance does not explain: of a million
// coordinates one in a thousand runs has a normal deviate beyond six.
constexpr double kFarAway = 6;
constexpr double kEnoughDraws = 100;  // effective ones, for a standard error to be trusted

constexpr std::size_t kRowsShown = 30;
constexpr double kEmptyShown = 0.0005;  // share of empty proposals that is worth a word

template <class F>
std::vector<double> column(const SampleReport& report, F&& of) {
  std::vector<double> values;
  for (const CoordinateSummary& s : report.summaries) values.push_back(of(s));
  return values;
}
std::vector<double> ess(const SampleReport& r) {
  return column(r, [](const CoordinateSummary& s) { return s.ess_bulk; });
}
std::vector<double> rhat(const SampleReport& r) {
  return column(r, [](const CoordinateSummary& s) { return s.rhat; });
}

std::uint64_t peak_memory() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

double steps_per_second(const RunStatistics& s) {
  return static_cast<double>(s.steps) / s.seconds_of_draws;
}

// Rows of the table: all watched coordinates, or those with the smallest effective sample size.
std::vector<std::size_t> rows_to_show(const SampleReport& r) {
  std::vector<std::size_t> rows(r.summaries.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (rows.size() <= kRowsShown) return rows;
  const auto worse = [&](std::size_t a, std::size_t b) {
    const double x = r.summaries[a].ess_bulk, y = r.summaries[b].ess_bulk;
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return x < y;
  };
  std::partial_sort(rows.begin(), rows.begin() + 10, rows.end(), worse);
  rows.resize(10);
  return rows;
}

void print_table(const SampleReport& r) {
  const std::vector<std::size_t> rows = rows_to_show(r);
  const auto dim = static_cast<std::size_t>(r.target.domain().dim());
  if (r.watched.size() < dim) {
    show("of {} coordinates, {} evenly spread ones are diagnosed\n", with_commas(dim),
         with_commas(r.watched.size()));
  }
  if (rows.size() < r.summaries.size()) {
    show("the {} of {} coordinates with the smallest effective sample size\n", rows.size(),
         with_commas(r.summaries.size()));
  }
  show("{:<10} {:>9}", "", "mean");
  if (r.exact) show(" {:>9} {:>9}", "exact", "error");
  show(" {:>9} {:>10} {:>7}\n", "MCSE", "ESS", "R-hat");
  for (std::size_t row : rows) {
    const int i = r.watched[row];
    const CoordinateSummary& s = r.summaries[row];
    const double mean = r.mean[static_cast<std::size_t>(i)];
    show("{:<10} {:>9.5f}", coordinate_name(i, r.target.shape()), mean);
    if (r.exact) {
      const double exact = r.exact->means[static_cast<std::size_t>(i)];
      show(" {:>9.5f} {:>+9.5f}", exact, mean - exact);
    }
    show(" {:>9} {:>10} {:>7}\n", std::isnan(s.mcse) ? "-" : fmt::format("{:.5f}", s.mcse),
         rounded(s.ess_bulk), std::isnan(s.rhat) ? "-" : fmt::format("{:.4f}", s.rhat));
  }
}

// How far the means are from the exact ones, in standard errors; 0 where there is nothing to
// compare. A standard error from few effective draws is not worth much, and counts for less.
double worst_error(const SampleReport& r) {
  double worst = 0;
  if (!r.exact || !r.run.sampler().exact()) return worst;
  const double all = static_cast<double>(r.draws) * r.request.plan.chains;
  for (std::size_t k = 0; k < r.summaries.size(); ++k) {
    const CoordinateSummary& s = r.summaries[k];
    const double error = std::abs(s.mean - r.exact->means[static_cast<std::size_t>(r.watched[k])]);
    // A coordinate that never moved has no standard error: that of a rare event stands in for it.
    const double mcse = s.sd > 0 ? s.mcse : std::sqrt(std::max(error, 1 / all) / all);
    if (std::isnan(mcse)) continue;
    worst =
        std::max(worst, error / mcse * (s.sd > 0 ? std::min(1.0, s.ess_bulk / kEnoughDraws) : 1));
  }
  return worst;
}

std::size_t constant_coordinates(const SampleReport& r) {
  if (r.draws < 4) return 0;
  return static_cast<std::size_t>(std::count_if(r.summaries.begin(), r.summaries.end(),
                                                [](const auto& s) { return s.sd == 0; }));
}

// "step_size", or "dmala.step_size, gwg.flips"; empty where nothing is tuned.
std::string tuned_parameters(const Sampler& sampler) {
  std::string text;
  if (!sampler.tunable()) return text;
  for (const Tuning& t : sampler.tunable()->tuning()) {
    text += (text.empty() ? "" : ", ") + t.parameter;
  }
  return text;
}

void print_notes(const SampleReport& r) {
  if (!r.run.sampler().random()) {
    show(
        "\nNote: {} moves its particles by a deterministic rule. They are not independent draws, "
        "so "
        "there is\nno effective sample size, and the law they approach is not exactly the "
        "model's.\n",
        r.run.sampler().name());
  } else if (!r.run.sampler().exact()) {
    show(
        "\nNote: {} is unadjusted. Its draws follow a slightly different distribution; a smaller "
        "step_size\nbrings it closer, dmala is exact.\n",
        r.run.sampler().name());
  }
  if (r.run.sampler().tunable() && r.request.plan.warmup == 0) {
    show("\nNote: without warm-up the {} was not tuned.\n", tuned_parameters(r.run.sampler()));
  }
  for (const std::string& warning : warnings_of(r)) show("\nWarning: {}\n", warning);
}

nlohmann::ordered_json choice_json(const Choice& choice) {
  auto field = nlohmann::ordered_json::array();
  for (auto r = choice.results.rbegin(); r != choice.results.rend(); ++r) {
    field.push_back({{"sampler", r->contender.sampler},
                     {"settings", r->contender.settings},
                     {"ess_per_second", json_number(r->ess_per_second())}});
  }
  return {{"reason", choice.reason()}, {"seconds", choice.seconds}, {"race", field}};
}

}  // namespace

std::vector<std::string> warnings_of(const SampleReport& r) {
  std::vector<std::string> list;
  if (const double worst = worst_error(r); worst > kFarAway) {
    list.push_back(
        fmt::format("the means are up to {} standard errors away from the exact answer: the chains "
                    "have missed a part of the model, which ESS and R-hat cannot show. Do not use "
                    "these draws.",
                    rounded(worst)));
  }
  if (const std::size_t constant = constant_coordinates(r); constant > 0) {
    list.push_back(fmt::format(
        "{} of {} coordinates never changed. Either the model all but fixes them, or no chain has "
        "found their other levels; they have neither ESS nor R-hat.",
        with_commas(constant), with_commas(r.summaries.size())));
  }
  if (const RunStatistics& s = r.statistics; s.still_chains > 0) {
    list.push_back(fmt::format(
        "{} of {} chains stand still: fewer than 1 % of their steps changed the state ({:.1f} % of "
        "all proposals were empty). Do not trust their means; another sampler may move them.",
        with_commas(static_cast<std::uint64_t>(s.still_chains)),
        with_commas(static_cast<std::uint64_t>(r.request.plan.chains)), 100 * s.empty));
  }
  if (const double worst = largest(rhat(r)); worst > 1.01) {
    list.push_back(
        fmt::format("R-hat is up to {:.3f}. The chains have not mixed: run longer, or "
                    "from more chains.",
                    worst));
  }
  if (r.statistics.nonfinite > 0) {
    list.push_back(
        fmt::format("{} proposals had a log p or an acceptance ratio that is not finite.",
                    with_commas(r.statistics.nonfinite)));
  }
  return list;
}

nlohmann::ordered_json report_json(const SampleReport& r) {
  const RunStatistics& s = r.statistics;
  nlohmann::ordered_json j;
  j["model"] = r.target.name();
  j["dim"] = r.target.domain().dim();
  j["sampler"] = r.run.sampler().name();
  j["parameters"] = parameters_json(r.run.sampler().parameters());
  if (r.choice) j["auto"] = choice_json(*r.choice);
  j["chains"] = r.request.plan.chains;
  j["warmup"] = r.request.plan.warmup;
  j["draws"] = r.draws;
  j["thin"] = r.request.plan.thin;
  j["seed"] = r.request.plan.seed;
  j["seconds"] = json_number(s.seconds);
  j["steps_per_second"] = json_number(steps_per_second(s));
  j["acceptance_rate"] = json_number(s.acceptance);
  j["accepted"] = json_number(s.accepted);
  j["proposed_changes"] = json_number(s.proposed);
  j["changes"] = json_number(s.changed);
  j["empty_proposals"] = json_number(s.empty);
  j["moved"] = json_number(s.moved);
  j["still_chains"] = s.still_chains;
  j["evaluations"] = {{"logp", json_number(s.logp_evaluations)},
                      {"gradient", json_number(s.gradient_evaluations)}};
  if (s.local_differences > 0) j["evaluations"]["local"] = json_number(s.local_differences);
  j["nonfinite"] = s.nonfinite;
  j["mean"] = long_list("mean");
  j["ess"] = {{"min", json_number(least(ess(r)))},
              {"median", json_number(median(ess(r)))},
              {"coordinates", r.watched.size()}};
  j["rhat"] = {{"max", json_number(largest(rhat(r)))}};
  j["warnings"] = warnings_of(r);
  j["peak_memory_bytes"] = peak_memory();
  j["complete"] = r.complete;
  j["tile"] = r.run.tile_size();
  j["instruction_set"] = ops::name(ops::active_level());
  j["version"] = version();
  return j;
}

void print_report(const SampleReport& r) {
  const RunStatistics& s = r.statistics;
  const RunPlan& plan = r.request.plan;
  const Sampler& sampler = r.run.sampler();
  std::string parameters;
  for (const Parameter& p : sampler.parameters()) {
    if (!p.name.ends_with("adapt"))
      parameters += (parameters.empty() ? "" : ", ") + parameter_text(p);
  }
  show("model     {}, {} coordinates ({})\n", r.target.name(),
       with_commas(static_cast<std::uint64_t>(r.target.domain().dim())),
       shape_text(r.target.shape()));
  show("sampler   {} ({}{})\n", sampler.name(), parameters,
       sampler.tunable() && plan.warmup > 0
           ? fmt::format("{}{} tuned in warm-up", parameters.empty() ? "" : "; ",
                         tuned_parameters(sampler))
           : "");
  if (r.choice) show("chosen    {}\n", r.choice->reason());
  show("run       {} chains x {} draws{} after {} warm-up steps, seed {}{}\n\n",
       with_commas(static_cast<std::uint64_t>(plan.chains)), with_commas(r.draws),
       plan.thin > 1 ? fmt::format(" (one in {} steps)", plan.thin) : "", with_commas(plan.warmup),
       plan.seed, r.complete ? "" : "; not complete");
  if (r.draws == 0) return;
  print_table(r);
  show("\nacceptance {:.4f}, {:.3f} coordinates changed per step ({:.3f} proposed{})\n",
       s.acceptance, s.changed, s.proposed,
       s.empty >= kEmptyShown ? fmt::format("; {:.1f} % of proposals empty", 100 * s.empty) : "");
  if (sampler.random()) {
    show("ESS min {}, median {}; R-hat max {:.4f}\n", rounded(least(ess(r))),
         rounded(median(ess(r))), largest(rhat(r)));
  }
  show("{} steps/s, each of them moving {}; {} in all\n", rounded(steps_per_second(s)),
       plan.chains == 1
           ? "the chain"
           : fmt::format("all {} chains", with_commas(static_cast<std::uint64_t>(plan.chains))),
       duration(s.seconds));
  if (r.exact) {
    show("root mean square error of the means {:.2e}; log Z = {:.10g} (exact)\n",
         rmse(r.mean, r.exact->means), r.exact->log_z);
  }
  print_notes(r);
}

}  // namespace saltus::cli
