// saltus diagnose: what the draws of a saved run are worth.
#include <fmt/core.h>

#include <numeric>

#include "cli/classes.hpp"
#include "cli/commands.hpp"
#include "cli/observables.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "saltus/diagnose/mixing.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

constexpr std::size_t kRowsShown = 30;

std::vector<std::size_t> all_rows(const Summaries& all) {
  std::vector<std::size_t> rows(all.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

ClassColumns classes_of(const Summaries& all, const std::vector<std::size_t>& rows) {
  ClassColumns columns;
  for (const std::size_t row : rows) columns.add(static_cast<int>(row), all[row]);
  return columns;
}

void print_classes(const Draws& draws, const Summaries& all) {
  std::vector<std::size_t> rows = readable(all, all_rows(all));
  if (rows.size() < all.size()) {
    rows = readable(all, sorted_by(all, &CoordinateSummary::rhat, true));
    show("the {} of {} coordinates with the largest R-hat\n", rows.size(), with_commas(all.size()));
  }
  if (const std::string which = which_classes(draws.info(), all); !which.empty()) {
    show("{}\n", which);
  }
  classes_of(all, rows).show(draws.info().shape, labels_in(draws.info()));
}

void print_table(const Draws& draws, const Summaries& all) {
  if (has_classes(draws.info())) return print_classes(draws, all);
  std::vector<std::size_t> rows = all_rows(all);
  if (rows.size() > kRowsShown) {
    rows = sorted_by(all, &CoordinateSummary::rhat, true);
    rows.resize(10);
    show("the 10 of {} coordinates with the largest R-hat\n", with_commas(all.size()));
  }
  show("{:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n", "", "mean", "sd", "MCSE", "ESS bulk",
       "ESS tail", "R-hat");
  const Labels labels = labels_in(draws.info());
  for (std::size_t i : rows) {
    const CoordinateSummary& s = all[i];
    show("{:<10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>8}\n",
         coordinate_label(static_cast<int>(i), draws.info().shape, labels), fixed(s.mean, 5),
         fixed(s.sd, 5), fixed(s.mcse, 5), rounded(s.ess_bulk), rounded(s.ess_tail),
         fixed(s.rhat, 4));
  }
}

void show_as_json(const Draws& draws, const Summaries& all,
                  const std::vector<ObservableSummary>& observables) {
  using S = CoordinateSummary;
  const auto bulk = column(all, &S::ess_bulk), tail = column(all, &S::ess_tail),
             rhat = column(all, &S::rhat);
  const auto mean = column(all, &S::mean), sd = column(all, &S::sd), mcse = column(all, &S::mcse);
  Json j;
  j["chains"] = draws.chains();
  j["draws"] = draws.draws();
  j["dim"] = draws.dim();
  j["ess"] = {{"min", json_number(least(bulk))}, {"median", json_number(median(bulk))}};
  j["ess_tail"] = {{"min", json_number(least(tail))}, {"median", json_number(median(tail))}};
  j["rhat"] = {{"max", json_number(largest(rhat))}};
  for (const char* name : {"mean", "sd", "mcse"}) j[name] = long_list(name);
  const auto best = best_state(draws);
  const std::vector<double> best_state = best_levels(best);
  j["observables"] = observables_json(observables);
  j["best"] = best_json(best);
  LongLists lists = {
      {"mean", mean}, {"sd", sd}, {"mcse", mcse}, {"best.state", {best_state, true}}};
  const ClassColumns classes = classes_of(all, all_rows(all));
  if (has_classes(draws.info())) j["classes"] = classes.json();
  classes.put_into(lists);
  show_json(j, lists);
}

struct DiagnoseRequest {
  std::string file;
  std::vector<std::string> observe;
  bool json = false;
};

void diagnose(const DiagnoseRequest& request) {
  const std::string& file = request.file;
  const auto draws = open_draws(file);
  const auto own =
      parse_expressions(request.observe, expression_space(draws->info(), draws->dim()));
  const Summaries all = summarise(*draws, true);
  const std::vector<ObservableSummary> observables =
      draws->draws() > 0 ? observe(*draws, own) : std::vector<ObservableSummary>{};
  if (request.json) return show_as_json(*draws, all, observables);
  const DrawsInfo& info = draws->info();
  show("{}: {} chains x {} draws of {} coordinates{}\n\n", file, draws->chains(),
       with_commas(draws->draws()), count(draws->dim()),
       info.model.empty() ? "" : fmt::format(", {} with {}", info.model, info.sampler));
  print_table(*draws, all);
  show_observables(observables);
  const auto bulk = column(all, &CoordinateSummary::ess_bulk);
  const double worst = largest(column(all, &CoordinateSummary::rhat));
  if (has_classes(info)) {
    show("\nESS min {}, median {}; R-hat max {} (of each coordinate's worst class)\n",
         rounded(least(bulk)), rounded(median(bulk)), fixed(worst, 4));
  } else {
    show("\nESS bulk min {}, median {}; ESS tail min {}; R-hat max {}\n", rounded(least(bulk)),
         rounded(median(bulk)), rounded(least(column(all, &CoordinateSummary::ess_tail))),
         fixed(worst, 4));
  }
  if (const auto best = best_state(*draws)) show_best(*best);
  if (const auto w = mixing_warning(all, observables, draws->chains())) show_warnings({*w});
}

}  // namespace

void add_diagnose(CLI::App& program, int&) {
  CLI::App* command =
      program.add_subcommand("diagnose", "Effective sample sizes and R-hat of a saved run");
  auto request = std::make_shared<DiagnoseRequest>();
  command->add_option("FILE", request->file, "Draws: .nc, .npz or .csv")->required();
  add_observe(*command, request->observe);
  command->add_flag("--json", request->json, "Print the results as JSON, and nothing else");
  command->callback([request] { diagnose(*request); });
}

}  // namespace saltus::cli
