#include "cli/report/plots.hpp"
#include "cli/classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/run_series.hpp"

namespace saltus::cli {
namespace {

using report::Cell;
using report::Plot;
using report::Series;

constexpr std::size_t kTableRows = 200;
constexpr int kChainLines = 4;  // more lines than that hide one another
constexpr std::size_t kLinePoints = 800;
constexpr std::size_t kScatterPoints = 1500;
constexpr int kBoxes = 16;
constexpr std::size_t kBars = 40;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

std::string name_of(const RunPage& run, std::size_t coordinate) {
  return coordinate_label(static_cast<int>(coordinate), run.draws.info().shape, run.labels);
}

std::string counted(std::size_t n, const char* thing) {
  return fmt::format("{} {}{}", with_commas(n), thing, n == 1 ? "" : "s");
}

Cell number(double v, int digits) {
  return {v, std::isinf(v) ? "inf" : fixed(v, digits)};
}

Cell whole(double v) {
  return {v, rounded(v)};
}

int chains_drawn(const RunPage& run) {
  return std::min(run.draws.chains(), kChainLines);
}

std::string which_chains(const RunPage& run, int drawn) {
  if (drawn == run.draws.chains()) return drawn == 1 ? "the chain" : "each chain";
  return fmt::format("the first {} of {} chains", drawn, count(run.draws.chains()));
}

std::string windows_text(std::size_t window) {
  return window == 1 ? "" : fmt::format(", averaged over windows of {} draws", with_commas(window));
}

// Means over windows as a line: a mean stands at the middle of its window.
Series window_series(std::string name, const std::vector<double>& means, std::size_t window,
                     std::size_t draws) {
  Series series{std::move(name)};
  for (std::size_t w = 0; w < means.size(); ++w) {
    const std::size_t first = w * window, last = std::min(draws, first + window);
    series.add(static_cast<double>(first + last - 1) / 2 + 1, means[w]);
  }
  return series;
}

std::string chain_name(int chain) {
  return fmt::format("chain {}", chain + 1);
}

// ---- Classes

bool has_classes(const RunPage& run) {
  return saltus::has_classes(run.draws.info());
}

// Of unordered levels the class that mixes worst, which stands for the coordinate in plots;
// otherwise -1.
int worst_class(const RunPage& run, std::size_t coordinate) {
  const std::vector<ClassSummary>& classes = run.summaries[coordinate].classes;
  if (classes.empty()) return -1;
  const auto ess = [](const ClassSummary& c) { return std::isnan(c.ess) ? INFINITY : c.ess; };
  return std::ranges::min_element(classes, {}, ess)->level;
}

std::string name_with_class(const RunPage& run, std::size_t coordinate) {
  const int of_class = worst_class(run, coordinate);
  return name_of(run, coordinate) +
         (of_class < 0 ? ""
                       : " = " + level_label(static_cast<int>(coordinate), of_class, run.labels));
}

std::string class_text(const ClassSummary& c) {
  return std::isnan(c.ess)
             ? "This class is always or never taken."
             : fmt::format("ESS {}, R-hat {}.", rounded(c.ess), number(c.rhat, 4).text);
}

void add_class_table(const RunPage& run) {
  const std::vector<std::size_t> rows = readable(run.summaries, run.by_ess);
  report::Table table;
  table.caption =
      rows.size() < run.by_ess.size()
          ? fmt::format(
                "Classes of the {} of {} coordinates with the smallest effective sample size",
                rows.size(), with_commas(run.by_ess.size()))
          : std::string(
                "The classes of every coordinate, the smallest effective sample size first");
  table.columns = {"", "class", "probability", "MCSE", "ESS", "R-hat"};
  for (const std::size_t i : rows) {
    for (const ClassSummary& c : run.summaries[i].classes) {
      table.rows.push_back(
          {name_of(run, i),
           {static_cast<double>(c.level),
            level_label(static_cast<int>(i), static_cast<int>(c.level), run.labels)},
           number(c.probability, 5),
           number(c.mcse, 5),
           whole(c.ess),
           number(c.rhat, 4)});
    }
  }
  using S = CoordinateSummary;
  table.foot = {{"worst of all", "", "", "", whole(least(column(run.summaries, &S::ess_bulk))),
                 number(largest(column(run.summaries, &S::rhat)), 4)}};
  run.page.table(table);
  if (const std::string which = which_classes(run.draws.info(), run.summaries); !which.empty()) {
    run.page.paragraph(which + ".");
  }
}

// ---- Traces

bool all_nan(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

// Every draw of a short chain; the means and extremes of windows of a long one.
Series logp_series(int chain, const std::vector<double>& logp, std::size_t window) {
  Series series = report::over_windows(logp, window);
  series.name = chain_name(chain);
  if (window == 1) series.low = series.high = {};
  return series;
}

// False when the file has no log p.
bool add_logp(const RunPage& run) {
  Plot trace{.title = "log p", .x_label = "draw", .y_label = "log p"};
  Plot boxes{.title = "log p of each chain", .kind = Plot::Kind::box, .y_label = "log p"};
  boxes.series = {{"log p"}};
  const std::size_t window = run.draws.draws() <= kLinePoints ? 1 : run.draws.draws() / 200;
  const int boxed = std::min(run.draws.chains(), kBoxes), drawn = chains_drawn(run);
  for (int chain = 0; chain < boxed; ++chain) {
    const std::vector<double> logp = report::read_logp(run.draws, chain);
    if (chain == 0 && all_nan(logp)) return false;
    boxes.categories.push_back(std::to_string(chain + 1));
    boxes.series[0].boxes.push_back(report::box_of(logp));
    if (chain >= drawn) continue;
    trace.series.push_back(logp_series(chain, logp, window));
  }
  std::vector<double> medians;
  for (const report::Box& box : boxes.series[0].boxes) medians.push_back(box.median);
  trace.summary = fmt::format(
      "log p along {}{}. Chains that have mixed look alike and show no drift.",
      which_chains(run, drawn),
      window == 1
          ? ""
          : fmt::format(": mean, least and greatest of every {} draws", with_commas(window)));
  boxes.x_label = "chain";
  const std::string from = short_number(least(medians)), to = short_number(largest(medians));
  boxes.summary = fmt::format(
      "Median, quartiles and spread of log p in {}. {}.", which_chains(run, boxed),
      from == to ? "All medians are " + from : "The medians lie between " + from + " and " + to);
  run.page.plot(trace);
  if (boxed > 1) run.page.plot(boxes);
  return true;
}

void add_acceptance(const RunPage& run, std::size_t window) {
  Plot plot{.title = "Acceptance", .x_label = "draw", .y_label = "acceptance probability"};
  plot.y_to = 1;
  double lowest = 1, sum = 0;
  std::size_t count = 0;
  for (int chain = 0; chain < chains_drawn(run); ++chain) {
    const std::vector<double> means = report::acceptance_means(run.draws, chain, window);
    for (const double m : means) {
      lowest = std::min(lowest, m);
      sum += m;
      ++count;
    }
    plot.series.push_back(window_series(chain_name(chain), means, window, run.draws.draws()));
  }
  if (lowest >= 1) {
    run.page.paragraph("Every step was accepted with probability 1, so there is no plot of it.");
    return;
  }
  plot.summary = fmt::format(
      "Acceptance probability along {}{}. It is {:.3f} on average and {:.3f} at its lowest.",
      which_chains(run, chains_drawn(run)), windows_text(window), sum / static_cast<double>(count),
      lowest);
  run.page.plot(plot);
}

// All but log p, which has a plot of its own.
void add_observable_traces(const RunPage& run) {
  for (const Observed& observed : run.observed) {
    if (&observed == run.observed.data()) continue;
    const Rows<const double> x = observed.series.view();
    const std::size_t window =
        at(x.cols) <= kLinePoints ? 1 : (at(x.cols) + kLinePoints / 4 - 1) / (kLinePoints / 4);
    const int drawn = std::min(x.rows, kChainLines);
    Plot plot{.title = observed.name, .x_label = "draw", .y_label = observed.name};
    for (int row = 0; row < drawn; ++row) {
      Series series = report::over_windows(x.row(row), window);
      series.name = observed.of_pairs ? fmt::format("chains {} and {}", 2 * row + 1, 2 * row + 2)
                                      : chain_name(row);
      if (window == 1) series.low = series.high = {};
      for (double& draw : series.x) draw = (draw - 1) * static_cast<double>(observed.every) + 1;
      plot.series.push_back(std::move(series));
    }
    const ObservableSummary s = summarise(observed);
    const std::size_t draws = window * observed.every;
    plot.summary = fmt::format(
        "{} along {}{}. ESS {}, R-hat {}.", observed.name,
        observed.of_pairs ? "pairs of chains" : which_chains(run, drawn),
        window == 1
            ? ""
            : fmt::format(": mean, least and greatest of every {} draws", with_commas(draws)),
        rounded(s.ess), number(s.rhat, 4).text);
    run.page.plot(plot);
  }
}

void add_coordinate_traces(const RunPage& run, const report::Columns& columns) {
  for (std::size_t i = 0; i < run.shown.size(); ++i) {
    const std::size_t coordinate = run.shown[i];
    const CoordinateSummary& s = run.summaries[coordinate];
    const int of_class = worst_class(run, coordinate);
    Plot plot{.title = "Trace of " + name_with_class(run, coordinate),
              .x_label = "draw",
              .y_label = of_class >= 0         ? "share of draws in the class"
                         : columns.window == 1 ? "value"
                                               : "mean value"};
    if (of_class >= 0) plot.y_to = 1;
    for (std::size_t chain = 0; chain < columns.means[i].size(); ++chain) {
      plot.series.push_back(window_series(chain_name(static_cast<int>(chain)),
                                          columns.means[i][chain], columns.window,
                                          run.draws.draws()));
    }
    plot.summary = fmt::format("{} along {}{}. ESS {}, R-hat {}.", name_of(run, coordinate),
                               which_chains(run, chains_drawn(run)), windows_text(columns.window),
                               rounded(s.ess_bulk), number(s.rhat, 4).text);
    if (of_class >= 0) {
      plot.summary = fmt::format(
          "How often {} is in class {}, the one that mixes worst, along {}{}. {}",
          name_of(run, coordinate), level_label(static_cast<int>(coordinate), of_class, run.labels),
          which_chains(run, chains_drawn(run)), windows_text(columns.window),
          class_text(*std::ranges::find(s.classes, of_class, &ClassSummary::level)));
    }
    run.page.plot(plot);
  }
}

// ---- Coordinates

std::string level_text(const DrawsInfo& info, std::size_t level) {
  return fmt::format("{:.6g}", info.first_value + info.spacing * static_cast<double>(level));
}

// The levels that occur, a few of them together where there are many.
struct Bins {
  std::size_t first = 0, width = 1, count = 0;
};

Bins bins_of(const std::vector<std::vector<std::uint64_t>>& counts) {
  std::size_t low = counts[0].size(), high = 0;
  for (const auto& of_levels : counts) {
    for (std::size_t k = 0; k < of_levels.size(); ++k) {
      if (of_levels[k] == 0) continue;
      low = std::min(low, k);
      high = std::max(high, k);
    }
  }
  if (counts[0].size() <= kBars) return {0, 1, counts[0].size()};
  const std::size_t width = (high - low) / kBars + 1;
  return {low, width, (high - low) / width + 1};
}

void add_levels(const RunPage& run, const report::Columns& columns) {
  const DrawsInfo& info = run.draws.info();
  const Bins bins = bins_of(columns.counts);
  const char* value = has_classes(run) ? "class" : "value";
  Plot plot{.title = has_classes(run) ? "Classes" : "Values",
            .kind = Plot::Kind::bars,
            .x_label = value,
            .y_label = "share of the draws"};
  for (std::size_t b = 0; b < bins.count; ++b) {
    const std::size_t first = bins.first + b * bins.width;
    plot.categories.push_back(bins.width == 1 ? level_text(info, first)
                                              : level_text(info, first) + " to " +
                                                    level_text(info, first + bins.width - 1));
  }
  const double total =
      static_cast<double>(run.draws.chains()) * static_cast<double>(run.draws.draws());
  for (std::size_t i = 0; i < run.shown.size(); ++i) {
    Series series{name_of(run, run.shown[i]), {}, std::vector<double>(bins.count)};
    for (std::size_t k = bins.first; k < columns.counts[i].size(); ++k) {
      const std::size_t b = (k - bins.first) / bins.width;
      if (b < bins.count) series.y[b] += static_cast<double>(columns.counts[i][k]) / total;
    }
    plot.series.push_back(std::move(series));
  }
  plot.summary = fmt::format("How often {} had each {}, in all {}.",
                             run.shown.size() == 1 ? "the coordinate" : "these coordinates", value,
                             counted(static_cast<std::size_t>(total), "draw"));
  run.page.plot(plot);
}

void add_means(const RunPage& run) {
  Plot plot{.title = "Mean of each coordinate",
            .kind = Plot::Kind::scatter,
            .x_label = "coordinate",
            .y_label = "mean"};
  Series series{"mean ± 2 MCSE"};
  for (const std::size_t i : report::evenly_spread(run.summaries.size(), kScatterPoints)) {
    const CoordinateSummary& s = run.summaries[i];
    series.add(static_cast<double>(i), s.mean);
    series.low.push_back(s.mean - 2 * s.mcse);
    series.high.push_back(s.mean + 2 * s.mcse);
  }
  const auto means = column(run.summaries, &CoordinateSummary::mean);
  plot.summary = fmt::format(
      "The means of {} with two standard errors to both sides. They lie between {} and {}.",
      series.x.size() < run.summaries.size()
          ? fmt::format("{} of {} coordinates", with_commas(series.x.size()),
                        with_commas(run.summaries.size()))
          : counted(run.summaries.size(), "coordinate"),
      short_number(least(means)), short_number(largest(means)));
  plot.series.push_back(std::move(series));
  run.page.plot(plot);
}

void add_quality(const RunPage& run) {
  Plot plot{.title = "ESS and R-hat of each coordinate",
            .kind = Plot::Kind::scatter,
            .x_label = "ESS bulk",
            .y_label = "R-hat",
            .log_x = true};
  Series series{"R-hat"};
  // The worst coordinates, and an even spread over the others.
  for (const std::size_t i : report::evenly_spread(run.by_ess.size(), kScatterPoints)) {
    const CoordinateSummary& s = run.summaries[run.by_ess[i]];
    if (std::isfinite(s.ess_bulk) && std::isfinite(s.rhat)) series.add(s.ess_bulk, s.rhat);
  }
  if (series.x.size() < 2) return;
  plot.y_from = 1;
  plot.y_to = 1.01;
  const auto ess = column(run.summaries, &CoordinateSummary::ess_bulk);
  plot.summary = fmt::format(
      "To the right and low is good. ESS runs from {} to {}; R-hat is at most {}, and above 1.01 "
      "the chains have not mixed.",
      rounded(least(ess)), rounded(largest(ess)),
      number(largest(column(run.summaries, &CoordinateSummary::rhat)), 4).text);
  plot.series.push_back(std::move(series));
  run.page.plot(plot);
}

}  // namespace

void add_table(const RunPage& run) {
  if (has_classes(run)) return add_class_table(run);
  report::Table table;
  const std::size_t rows = std::min(kTableRows, run.by_ess.size());
  table.caption =
      rows < run.by_ess.size()
          ? fmt::format("The {} of {} coordinates with the smallest effective sample size", rows,
                        with_commas(run.by_ess.size()))
          : std::string("Every coordinate, the smallest effective sample size first");
  table.columns = {"", "ESS bulk", "R-hat", "mean", "sd", "MCSE", "ESS tail"};
  for (std::size_t r = 0; r < rows; ++r) {
    const CoordinateSummary& s = run.summaries[run.by_ess[r]];
    table.rows.push_back({name_of(run, run.by_ess[r]), whole(s.ess_bulk), number(s.rhat, 4),
                          number(s.mean, 5), number(s.sd, 5), number(s.mcse, 5),
                          whole(s.ess_tail)});
  }
  using S = CoordinateSummary;
  table.foot = {{"worst of all", whole(least(column(run.summaries, &S::ess_bulk))),
                 number(largest(column(run.summaries, &S::rhat)), 4), "", "",
                 number(largest(column(run.summaries, &S::mcse)), 5),
                 whole(least(column(run.summaries, &S::ess_tail)))}};
  run.page.table(table);
}

void add_observables(const RunPage& run) {
  report::Table table;
  table.caption = "Whole states";
  table.columns = {"", "mean", "sd", "MCSE", "ESS", "R-hat"};
  for (const Observed& observed : run.observed) {
    const ObservableSummary s = summarise(observed);
    table.rows.push_back({s.name,
                          {s.mean, short_number(s.mean)},
                          {s.sd, short_number(s.sd)},
                          {s.mcse, short_number(s.mcse)},
                          whole(s.ess),
                          number(s.rhat, 4)});
  }
  run.page.table(table);
  if (const auto best = best_state(run.draws)) {
    run.page.paragraph(fmt::format("The best state seen has log p {:.6g}: draw {} of chain {}.",
                                   best->logp, with_commas(best->draw + 1), best->chain + 1));
  }
}

void add_traces(const RunPage& run) {
  run.page.heading("Along the chains");
  std::vector<int> classes;
  if (has_classes(run)) {
    for (const std::size_t i : run.shown) classes.push_back(worst_class(run, i));
  }
  const report::Columns columns = report::read_columns(
      run.draws, {run.shown.begin(), run.shown.end()}, chains_drawn(run), classes);
  if (!add_logp(run)) run.page.paragraph("The file has no log p.");
  add_observable_traces(run);
  add_coordinate_traces(run, columns);
  add_acceptance(run, columns.window);
  run.page.heading("Coordinates");
  if (run.summaries.size() > 1 && !has_classes(run)) add_means(run);
  add_quality(run);
  add_levels(run, columns);
}

void add_autocorrelation(const RunPage& run) {
  if (run.draws.draws() < 4) return;
  const std::size_t worst = run.by_ess[0];
  const Chains held =
      report::held_column(run.draws, static_cast<int>(worst), worst_class(run, worst));
  const double total =
      static_cast<double>(run.draws.chains()) * static_cast<double>(run.draws.draws());
  const auto lags = report::lags_for(total / run.summaries[worst].ess_bulk, held.draws);
  Plot plot{.title = "Autocorrelation", .x_label = "lag in draws", .y_label = "autocorrelation"};
  plot.y_to = 1;
  const auto add = [&](const std::string& name, const Chains& chains) {
    Series series{name, {lags.begin(), lags.end()}, report::autocorrelation(chains, lags)};
    if (!all_nan(series.y)) plot.series.push_back(std::move(series));
  };
  add(name_with_class(run, worst), held);
  add("log p", report::logp_chains(run.draws));
  if (plot.series.empty()) return;
  plot.summary = fmt::format(
      "How alike draws are that lie some draws apart, for the coordinate with the smallest ESS and "
      "for log p. At lag {} it is",
      lags.size() > 1 ? lags[1] : 0);
  for (const Series& s : plot.series) {
    plot.summary += fmt::format("{} {:.3f} ({})", &s == plot.series.data() ? "" : " and",
                                s.y[lags.size() > 1 ? 1 : 0], s.name);
  }
  plot.summary += ".";
  run.page.plot(plot);
}

}  // namespace saltus::cli
