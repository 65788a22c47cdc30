#include "cli/sample/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "cli/classes.hpp"
#include "cli/commands.hpp"
#include "cli/observables.hpp"
#include "cli/terminal.hpp"
#include "cli/warnings.hpp"
#include "saltus/anneal.hpp"
#include "saltus/diagnose/distance.hpp"

namespace saltus::cli {
namespace {

constexpr std::size_t kRowsShown = 30;
constexpr double kEmptyShown = 0.0005;  // share of empty proposals that is worth a word

std::vector<double> ess(const SampleResult& r) {
  return column(r.summaries, &CoordinateSummary::ess_bulk);
}
std::vector<double> rhat(const SampleResult& r) {
  return column(r.summaries, &CoordinateSummary::rhat);
}

double steps_per_second(const RunStatistics& s) {
  return static_cast<double>(s.steps) / s.seconds_of_draws;
}

bool has_classes(const SampleResult& r) {
  return !r.summaries.empty() && !r.summaries[0].classes.empty();
}

// Of the watched coordinates `rows`.
ClassColumns classes_of(const SampleResult& r, const std::vector<std::size_t>& rows) {
  ClassColumns columns;
  for (const std::size_t row : rows) columns.add(r.watched[row], r.summaries[row]);
  if (r.exact) columns.add_exact(r.target->domain(), *r.exact);
  return columns;
}

std::vector<std::size_t> all_rows(const SampleResult& r) {
  std::vector<std::size_t> rows(r.summaries.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Rows of the table: all watched coordinates, or those with the smallest effective sample size.
std::vector<std::size_t> rows_to_show(const SampleResult& r) {
  std::vector<std::size_t> rows = all_rows(r);
  if (has_classes(r)) {
    if (readable(r.summaries, rows).size() == rows.size()) return rows;
    return readable(r.summaries, sorted_by(r.summaries, &CoordinateSummary::ess_bulk));
  }
  if (rows.size() <= kRowsShown) return rows;
  rows = sorted_by(r.summaries, &CoordinateSummary::ess_bulk);
  rows.resize(10);
  return rows;
}

bool is_given(const SampleResult& r, std::size_t row) {
  return r.whole && r.whole->given.is_given(r.watched[row]);
}

// Of the given coordinates there is nothing to say.
void print_classes(const SampleResult& r, std::vector<std::size_t> rows) {
  std::erase_if(rows, [&](std::size_t row) { return is_given(r, row); });
  if (const std::string which = which_classes(r.draws->info(), r.summaries); !which.empty()) {
    show("{}\n", which);
  }
  classes_of(r, rows).show(r.target->shape(), r.labels);
}

void print_means(const SampleResult& r, const std::vector<std::size_t>& rows) {
  show("{:<10} {:>9}", "", "mean");
  if (r.exact) show(" {:>9} {:>9}", "exact", "error");
  show(" {:>9} {:>10} {:>7}\n", "MCSE", "ESS", "R-hat");
  for (std::size_t row : rows) {
    const int i = r.watched[row];
    const CoordinateSummary& s = r.summaries[row];
    const double mean = r.mean[static_cast<std::size_t>(i)];
    show("{:<10} {:>9.5f}", coordinate_label(i, r.target->shape(), r.labels), mean);
    if (r.exact) {
      const double exact = r.exact->means[static_cast<std::size_t>(i)];
      show(" {:>9.5f} {:>+9.5f}", exact, mean - exact);
    }
    if (is_given(r, row)) {
      show(" {:>9} {:>10} {:>7}\n", "", "given", "");
      continue;
    }
    show(" {:>9} {:>10} {:>7}\n", fixed(s.mcse, 5), rounded(s.ess_bulk), fixed(s.rhat, 4));
  }
}

void print_table(const SampleResult& r) {
  const std::vector<std::size_t> rows = rows_to_show(r);
  const auto dim = static_cast<std::size_t>(r.target->domain().dim());
  if (r.target->domain().unordered() && !has_classes(r)) {
    show(
        "The levels have no order, and without the draws nobody has counted them: there are no "
        "class\nprobabilities to show, and means of level indices would say nothing. ESS and R-hat "
        "below are\nthose of the indices. Keep the draws (--record draws) for class "
        "probabilities.\n");
    return;
  }
  if (r.watched.size() < dim) {
    show("of {} coordinates, {} evenly spread ones are diagnosed\n", with_commas(dim),
         with_commas(r.watched.size()));
  }
  if (rows.size() < r.summaries.size()) {
    show("the {} of {} coordinates with the smallest effective sample size\n", rows.size(),
         with_commas(r.summaries.size()));
  }
  has_classes(r) ? print_classes(r, rows) : print_means(r, rows);
}

// How far the estimates are from the exact answer.
void print_error(const SampleResult& r) {
  const bool classes = has_classes(r);
  if (!classes && r.target->domain().unordered()) {
    return show("log Z = {:.10g} (exact)\n", r.exact->log_z);
  }
  double error = 0;
  if (classes) {
    const ClassColumns all = classes_of(r, all_rows(r));
    error = rmse(all.probability, all.exact);
  } else {
    error = rmse(r.mean, r.exact->means);
  }
  show("root mean square error of the {} {:.2e}; log Z = {:.10g} (exact)\n",
       classes ? "class probabilities" : "means", error, r.exact->log_z);
}

void print_notes(const SampleResult& r) {
  if (!r.random_sampler) {
    show(
        "\nNote: {} moves its particles by a deterministic rule. They are not independent draws, "
        "so there is\nno effective sample size, and the law they approach is not exactly the "
        "model's.\n",
        r.sampler);
  } else if (!r.exact_sampler) {
    show(
        "\nNote: {} is unadjusted. Its draws follow a slightly different distribution; a smaller "
        "step_size\nbrings it closer, dmala is exact.\n",
        r.sampler);
  }
  if (!r.tunes.empty() && r.plan.warmup == 0) {
    show("\nNote: without warm-up the {} was not tuned.\n", r.tunes);
  }
  show_warnings(r.warnings);
}

void print_tempering(const TemperingReport& t) {
  show("\n{:<8} {:>9} {:>10} {:>11} {:>10} {:>12}\n", "replica", "beta", "acceptance", "step size",
       "memory", "rejected up");
  for (std::size_t k = 0; k < t.betas.size(); ++k) {
    show("{:<8} {:>9.5f} {:>10} {:>11} {:>10} {:>12}\n", k, t.betas[k], fixed(t.acceptance[k], 3),
         short_number(t.step_size[k]), fixed(t.correlation[k], 3),
         k < t.rejection.size() ? fixed(t.rejection[k], 3) : "");
  }
  show(
      "memory: correlation of log p before and after the steps between two exchanges\n"
      "barrier {:.3f}: {} give most for the work\n"
      "{} round trips of states between base and model: {} per ensemble and scan, {} of what the\n"
      "rejections allow ({:.4f})\n"
      "log Z {}, standard error {}; {} from below, {} from above\n",
      t.barrier,
      t.recommended_replicas > 1 ? fmt::format("{} replicas", t.recommended_replicas)
                                 : "plain chains",
      with_commas(t.round_trips), fixed(t.round_trip_rate, 4),
      fixed(t.round_trip_rate / t.rate_if_independent, 2), t.rate_if_independent, fixed(t.log_z, 5),
      fixed(t.log_z_error, 5), fixed(t.log_z_forward, 5), fixed(t.log_z_backward, 5));
}

void print_probe(const SampleResult& r) {
  if (!r.probe || !r.warnings.empty()) return;
  show(
      "{} annealed searches found no mode that the chains have missed, which R-hat alone could not "
      "show\n",
      r.probe->searches);
}

// The command as it was typed, tempered.
void print_remedy(const SampleResult& r) {
  const auto& list = r.warnings;
  const bool helps = std::ranges::any_of(list, [](const Warning& w) {
    return w.code == "modes" || w.code == "exact" || w.code == "mixing";
  });
  if (!helps || r.tempering || r.target->domain().unbounded()) return;
  // Sweeps travel faster along a ladder than other steps, where they are cheap.
  const bool named = command_line().find(" --sampler") != std::string::npos;
  const bool sweeps = !named && recommended_search_sampler(*r.target).name == "gibbs";
  show(
      "\nTo draw from all modes, exchange states along a ladder of temperatures:\n  {} "
      "--temper{}\n",
      command_line(), sweeps ? " --sampler gibbs" : "");
}

}  // namespace

void show_report_json(const SampleResult& r, const std::string& repeat) {
  say_warnings(r.warnings);
  write_sample_json(r, repeat, 2, [](std::string_view text) { show_marked(std::string(text)); });
  show_marked("\n");
}

void print_report(const SampleResult& r, const std::string& repeat) {
  const RunStatistics& s = r.statistics;
  const RunPlan& plan = r.plan;
  const std::string parameters = parameters_text(r.parameters, {"adapt"});
  show("model     {}, {} coordinates ({})\n", r.target->name(), count(r.target->domain().dim()),
       shape_text(r.target->shape()));
  if (r.whole) show("given     {}\n", given_text(r.whole->given));
  show("sampler   {} ({}{})\n", r.sampler, parameters,
       !r.tunes.empty() && plan.warmup > 0
           ? fmt::format("{}{} tuned in warm-up", parameters.empty() ? "" : "; ", r.tunes)
           : "");
  if (r.choice) {
    show("chosen    {}{}\n", r.choice->reason(),
         r.choice->kept ? " (kept from an earlier run)" : "");
    if (!repeat.empty()) show("repeat    {}\n", repeat);
  }
  const char* step = r.tempering ? "scans" : "steps";
  show("run       {} {} x {} draws{} after {} warm-up {}, seed {}{}\n\n", count(plan.chains),
       r.tempering ? "tempered ensembles" : "chains", with_commas(r.draws_made),
       plan.thin > 1 ? fmt::format(" (one in {} {})", plan.thin, step) : "",
       with_commas(plan.warmup), step, plan.seed, r.complete ? "" : "; not complete");
  if (r.draws_made == 0) return;
  print_table(r);
  show_observables(r.observables);
  show("\nacceptance {:.4f}, {:.3f} coordinates changed per step ({:.3f} proposed{})\n",
       s.acceptance, s.changed, s.proposed,
       s.empty >= kEmptyShown ? fmt::format("; {:.1f} % of proposals empty", 100 * s.empty) : "");
  if (r.random_sampler) {
    show("ESS min {}, median {}; R-hat max {:.4f}{}\n", rounded(least(ess(r))),
         rounded(median(ess(r))), largest(rhat(r)),
         has_classes(r) ? " (of each coordinate's worst class)" : "");
  }
  show("{} steps/s, each of them moving {}; {} in all\n", rounded(steps_per_second(s)),
       plan.chains == 1 ? "the chain" : fmt::format("all {} chains", count(plan.chains)),
       duration(s.seconds));
  if (r.exact) print_error(r);
  if (r.best) show_best(*r.best, r.labels);
  if (r.objective) {
    show("{}: best {:.10g} ({} is better), mean {:.6g}\n", r.objective->objective.name,
         r.objective->best, r.objective->objective.maximise ? "more" : "less", r.objective->mean);
  }
  print_probe(r);
  if (r.tempering) print_tempering(*r.tempering);
  print_notes(r);
  print_remedy(r);
}

}  // namespace saltus::cli
