// The ladder of a tempered run.
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/plots.hpp"
#include "service/parts.hpp"
#include "temper/tempering_json.hpp"

namespace saltus::cli {
namespace {

using report::Cell;
using report::Plot;
using report::Series;

constexpr std::size_t kPathLines = 6, kPathScansShown = 150;  // more are a tangle

Cell cell(double v, int digits) {
  return {v, fixed(v, digits)};
}

std::string between(const TemperingReport& t, std::size_t k) {
  return fmt::format("{:.3g} – {:.3g}", t.betas[k], t.betas[k + 1]);
}

void add_slots(const TemperingReport& t, report::Page& page) {
  report::Table table;
  table.caption =
      "The ladder. Memory is the correlation of log p before and after the steps between two "
      "exchanges";
  table.columns = {"slot", "beta", "acceptance", "step size", "memory", "rejected up"};
  for (std::size_t k = 0; k < t.betas.size(); ++k) {
    const bool last = k == t.rejection.size();
    table.rows.push_back({Cell(static_cast<double>(k), std::to_string(k)),
                          cell(t.betas[k], 5),
                          cell(t.acceptance[k], 3),
                          {t.step_size[k], short_number(t.step_size[k])},
                          cell(t.correlation[k], 3),
                          last ? Cell("") : cell(t.rejection[k], 3)});
  }
  page.table(table);
}

void add_rejections(const TemperingReport& t, report::Page& page) {
  Plot plot{.title = "Rejected exchanges",
            .kind = Plot::Kind::bars,
            .x_label = "between beta",
            .y_label = "share rejected",
            .wide = true};
  plot.y_to = 1;
  plot.series = {{"rejected"}};
  for (std::size_t k = 0; k < t.rejection.size(); ++k) {
    plot.categories.push_back(between(t, k));
    plot.series[0].y.push_back(t.rejection[k]);
  }
  const auto [least_one, most] = std::ranges::minmax(t.rejection);
  plot.summary = fmt::format(
      "How often an exchange of neighbouring replicas is rejected: from {:.3f} to {:.3f}. Warm-up "
      "moves the betas until all are about equal.",
      least_one, most);
  page.plot(plot);
}

void add_paths(const TemperingReport& t, report::Page& page) {
  if (t.paths.empty()) return;
  Plot plot{.title = "Paths of replicas", .x_label = "scan", .y_label = "slot", .wide = true};
  const std::size_t replicas = t.betas.size(), drawn = std::min(replicas, kPathLines),
                    scans = std::min(t.paths.size(), kPathScansShown);
  for (std::size_t r = 0; r < drawn; ++r) {
    Series& series = plot.series.emplace_back(Series{fmt::format("replica {}", r)});
    for (std::size_t s = 0; s < scans; ++s) {
      series.add(static_cast<double>(s + 1), t.paths[s][r]);
    }
  }
  plot.y_to = static_cast<double>(replicas - 1);
  plot.summary = fmt::format(
      "Where {} of the first ensemble were in the first {} scans of the draws: slot 0 is the base, "
      "slot {} the model. A replica that goes from one to the other and back has made a round "
      "trip.",
      drawn == replicas ? "the replicas" : fmt::format("{} of {} replicas", drawn, replicas), scans,
      replicas - 1);
  page.plot(plot);
}

void add_barrier(const TemperingReport& t, report::Page& page) {
  Plot local{.title = "Local barrier", .x_label = "beta", .y_label = "rejection per beta"};
  Plot sum{.title = "Cumulative barrier", .x_label = "beta", .y_label = "barrier up to beta"};
  Series level{"local barrier"}, cumulated{"barrier"};
  cumulated.add(0, 0);
  double steepest = 0, at_beta = 0;
  for (std::size_t k = 0; k < t.rejection.size(); ++k) {
    const double value = t.rejection[k] / (t.betas[k + 1] - t.betas[k]);
    level.add(t.betas[k], value);
    level.add(t.betas[k + 1], value);
    cumulated.add(t.betas[k + 1], cumulated.y.back() + t.rejection[k]);
    if (value > steepest) steepest = value, at_beta = (t.betas[k] + t.betas[k + 1]) / 2;
  }
  local.series = {level};
  local.y_to = steepest;
  sum.series = {cumulated};
  local.summary = fmt::format(
      "Rejection divided by the step of beta: it is largest, {:.3g}, about beta = {:.3g}. A peak "
      "is "
      "where the law changes most quickly.",
      steepest, at_beta);
  sum.summary = fmt::format(
      "The sum of rejections up to each beta. At the end it is {:.3f}, for which {} replicas give "
      "most for the work.",
      t.barrier, t.recommended_replicas);
  page.plot(local);
  page.plot(sum);
}

}  // namespace

void add_ladder(const RunPage& run) {
  const auto& attributes = run.draws.info().attributes;
  const auto record = attributes.find("tempering");
  if (record == attributes.end()) return;
  const TemperingReport t = read_tempering_record(record->second);
  run.page.heading("Along the ladder of temperatures");
  run.page.paragraph(fmt::format(
      "{} replicas; {} round trips of states between base and model, {} per ensemble and scan "
      "where the rejections allow {}. log Z {}, standard error {}; {} from below, {} from above.",
      t.betas.size(), with_commas(t.round_trips), fixed(t.round_trip_rate, 4),
      fixed(t.rate_if_independent, 4), fixed(t.log_z, 5), fixed(t.log_z_error, 5),
      fixed(t.log_z_forward, 5), fixed(t.log_z_backward, 5)));
  for (const Warning& w : tempering_warnings(t)) run.page.warning(w.sentence);
  add_slots(t, run.page);
  add_rejections(t, run.page);
  add_barrier(t, run.page);
  add_paths(t, run.page);
}

}  // namespace saltus::cli
