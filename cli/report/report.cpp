// saltus report: a saved run as a page with charts.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/observables.hpp"
#include "cli/options.hpp"
#include "cli/report/plots.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "report/machine.hpp"
#include "report/page.hpp"
#include "reproduce/output.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/mixing.hpp"
#include "saltus/io/draw_files.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

using report::Fact;

struct ReportRequest {
  std::string file, out, title;
  std::vector<std::string> observe;
  int max_coordinates = 4;
};

std::filesystem::path place_of(const ReportRequest& request) {
  if (!request.out.empty()) return request.out;
  return std::filesystem::path(request.file).replace_extension(".html");
}

std::string attribute(const DrawsInfo& info, const std::string& name) {
  const auto found = info.attributes.find(name);
  return found == info.attributes.end() ? "" : found->second;
}

// As the file has it, or what the file lets one say.
Fact command_of(const Draws& draws) {
  const DrawsInfo& info = draws.info();
  const std::string command = attribute(info, "command"), seed = attribute(info, "seed");
  if (!command.empty()) return {"Command", command, true};
  if (seed.empty() || info.sampler.empty()) return {"Command", "not in the file"};
  return {"Command",
          fmt::format("saltus sample model.json --sampler {} --chains {} --draws {} --seed {}",
                      shell_word(info.sampler), draws.chains(), draws.draws(), shell_word(seed)),
          true, "(warm-up, thinning and settings are not in the file)"};
}

// How many coordinates have given values, which the run never changed.
std::ptrdiff_t given_count(const DrawsInfo& info) {
  return std::ranges::count(attribute(info, "given"), '=');
}

std::string given_fact(const DrawsInfo& info) {
  constexpr std::size_t kMost = 200;
  std::string text = attribute(info, "given");
  if (text.empty()) return "";
  if (text.size() > kMost) text = text.substr(0, text.rfind(',', kMost)) + ",...";
  const std::ptrdiff_t number = given_count(info);
  return fmt::format("{} coordinate{}: {}", count(number), number == 1 ? "" : "s", text);
}

std::vector<Fact> facts_of(const ReportRequest& request, const Draws& draws) {
  const DrawsInfo& info = draws.info();
  const auto dim = static_cast<std::uint64_t>(draws.dim());
  std::vector<Fact> facts = {{"Draws", request.file, true}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) facts.push_back({name, value});
  };
  add("Model", info.model);
  add("Size", fmt::format("{} coordinate{}{}, {} levels", with_commas(dim), dim == 1 ? "" : "s",
                          info.shape.size() > 1 ? " (" + shape_text(info.shape) + ")" : "",
                          count(info.levels)));
  add("Sampler", info.sampler);
  if (info.step_size > 0) add("Step size", short_number(info.step_size));
  add("Run", fmt::format("{} chain{} × {} draws", count(draws.chains()),
                         draws.chains() == 1 ? "" : "s", with_commas(draws.draws())));
  add("Given", given_fact(info));
  add("Constraint", attribute(info, "constraint"));
  add("Seed", attribute(info, "seed"));
  add("Sampled by",
      attribute(info, "version").empty() ? "" : "saltus " + attribute(info, "version"));
  add("Machine", attribute(info, "machine"));
  facts.push_back(command_of(draws));
  add("This page", fmt::format("saltus {} on {}", version(), report::this_machine()));
  return facts;
}

// The worst ones, and a middling one to compare them with.
std::vector<std::size_t> coordinates_to_show(const std::vector<std::size_t>& order, int most) {
  const std::size_t n = std::min(order.size(), static_cast<std::size_t>(most));
  std::vector<std::size_t> shown(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n));
  if (n > 1 && n < order.size()) shown.back() = order[std::max(n - 1, order.size() / 2)];
  return shown;
}

// `of_run`: what the run itself said against its draws.
void add_verdict(const Draws& draws, const Summaries& all, const Warnings& of_run,
                 report::Page& page) {
  const auto ess = column(all, &CoordinateSummary::ess_bulk),
             rhat = column(all, &CoordinateSummary::rhat);
  const auto constant =
      std::count_if(ess.begin(), ess.end(), [](double v) { return std::isnan(v); }) -
      given_count(draws.info());
  page.paragraph(
      fmt::format("Effective sample size: {} at least, {} in the median. R-hat: {} at most.{}",
                  rounded(least(ess)), rounded(median(ess)), fixed(largest(rhat), 4),
                  has_classes(draws.info()) ? " (Of each coordinate's worst class.)" : ""));
  const bool said =
      std::ranges::any_of(of_run, [](const Warning& w) { return w.code == "mixing"; });
  const auto mixing = mixing_warning(all, {}, draws.chains());
  if (mixing && !said) page.warning(mixing->sentence);
  for (const Warning& w : of_run) page.warning("The run's own warning: " + w.sentence);
  if (!draws.info().exact) {
    page.warning("The sampler is not exact: its draws follow a slightly different distribution.");
  }
  if (constant > 0) {
    page.paragraph(
        fmt::format("{} of {} coordinates never changed, or have too few draws: they have neither "
                    "ESS nor R-hat.",
                    count(constant), with_commas(all.size())));
  }
}

void fill(const ReportRequest& request, const Draws& draws, report::Page& page) {
  const auto own = parse_expressions(request.observe, expression_space(draws.info(), draws.dim()));
  page.facts(facts_of(request, draws));
  if (const std::string model = attribute(draws.info(), "model_json"); !model.empty()) {
    page.folded("The model, as a file (model.json)", model);
  }
  if (draws.draws() == 0) return page.paragraph("The file holds no draws.");
  const Summaries all = summarise(draws, true);
  // Coordinates that never changed come last: they have no effective sample size.
  const std::vector<std::size_t> order = sorted_by(all, &CoordinateSummary::ess_bulk);
  const std::vector<Observed> observed = observed_series(draws, own);
  const RunPage run{draws,    all, order, coordinates_to_show(order, request.max_coordinates),
                    observed, page};
  page.heading("What the draws are worth");
  try {
    add_verdict(draws, all, parse_warnings(attribute(draws.info(), "warnings")), page);
  } catch (const DataError& e) {
    throw DataError(request.file + ": " + e.what());
  }
  add_observables(run);
  add_table(run);
  try {
    add_ladder(run);
  } catch (const DataError& e) {
    throw DataError(request.file + ": " + e.what());
  }
  add_traces(run);
  add_autocorrelation(run);
  add_pictures(run);
}

// A folder of `saltus reproduce`: its page, made anew.
void report_experiment(const ReportRequest& request) {
  std::filesystem::path place = request.out;
  if (request.out.empty()) place = std::filesystem::path(request.file) / "page.html";
  if (!request.title.empty()) throw UsageError("--title is for draws; an experiment has its own");
  if (!request.observe.empty()) throw UsageError("--observe is for draws, not for an experiment");
  const reproduce::Saved saved = reproduce::read_results(request.file);
  FileRoles roles;
  for (const char* name : {"results.json", "curves.json"}) {
    roles.reads(name, std::filesystem::path(request.file) / name);
  }
  roles.writes("--out", place);
  reproduce::write_page(saved.results, saved.made, place);
  show("{}\n", place.string());
}

void make_report(const ReportRequest& request) {
  if (!report::pages_built()) throw UsageError("this saltus was built without pages");
  if (std::filesystem::is_directory(request.file)) return report_experiment(request);
  const auto draws = open_draws(request.file);
  const std::filesystem::path place = place_of(request);
  FileRoles roles;
  roles.reads("the draws", request.file);
  roles.writes("--out", place);
  const std::string& model = draws->info().model;
  report::Page page(!request.title.empty() ? request.title
                    : model.empty()        ? "Draws in " + request.file
                                           : model + " with " + draws->info().sampler);
  fill(request, *draws, page);
  page.write(place);
  show("{}\n", place.string());
}

}  // namespace

void add_report(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand("report", "A saved run as a page with charts");
  auto request = std::make_shared<ReportRequest>();
  command
      ->add_option("FILE", request->file,
                   "Draws (.nc, .npz or .csv), or a folder that saltus reproduce has made")
      ->required();
  command->add_option("--out", request->out,
                      "The page (default: FILE with the ending .html; FOLDER/page.html)");
  command->add_option("--title", request->title, "Title of the page");
  add_observe(*command, request->observe);
  add_default(*command, "--max-coordinates", request->max_coordinates,
              "Coordinates with plots of their own, those with the smallest ESS first",
              whole_number(1, 50));
  command->callback([request] { make_report(*request); });
}

}  // namespace saltus::cli
