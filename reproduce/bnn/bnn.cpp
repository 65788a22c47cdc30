// Bayesian neural networks with weights -1 and +1 on four data sets (Tables 2 and 4).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reproduce/bnn/cell.hpp"
#include "reproduce/bnn/paper.hpp"

namespace saltus::reproduce {
namespace {

using namespace bnn;
using report::Plot;
using report::Series;

// All finished runs of one sampler on one set.
struct Standing {
  Entrant entrant;
  std::vector<Course> runs;
  Measured log_likelihood() const {
    return over_runs(runs, [](const Course& c) { return c.log_likelihood.back(); });
  }
  Measured test_rmse() const {
    return over_runs(runs, [](const Course& c) { return c.test_rmse.back(); });
  }
};

struct Standings {
  RegressionSet set;
  Scale scale;
  std::vector<Standing> standings;

  // The paper's numbers are for its networks, chains and steps.
  bool comparable = false;

  int dim() const { return BinaryNetworkShape{set.train.features, scale.hidden}.dim(); }
  Json setting(const Entrant& entrant) const {
    return with(entrant.setting({{"data", set.name}}), "steps", scale.steps);
  }
  std::string notes() const {
    return set.notes.empty() ? "" : fmt::format(" {}", fmt::join(set.notes, " "));
  }
};

// ---- The runs

// Cells in an order in which every table fills evenly. Returns how many are missing because time
// was up.
int run_cells(Context& context, std::vector<Standings>& all) {
  Shelf shelf(context.options().partial);
  for (std::size_t run = 0; run < context.seeds(); ++run) {
    for (Standings& s : all) {
      for (Standing& standing : s.standings) {
        const std::uint64_t seed = context.seed(run);
        std::optional<Course> course = shelf.get(
            context, key_of(s.set, standing.entrant, s.scale, context.options().device, seed),
            [&] { return run_cell(context, s.set, standing.entrant, s.scale, seed); });
        if (course) standing.runs.push_back(std::move(*course));
      }
    }
  }
  return shelf.missing();
}

// ---- The tables

std::string numbers_text(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double v : values) texts.push_back(fmt::format("{:.4f}", v));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string note_of(const Standings& all, const Measured& m, std::optional<double> paper,
                    const std::vector<double>& authors) {
  std::string note;
  if (paper && m.sd > 0) {
    note = fmt::format(
        "Our standard deviation over seeds is {:.4f}, and the paper's number is {:.1f} of these "
        "away; the paper's own, 0.0003 to 0.0061, are not itemised.",
        m.sd, std::abs(m.mean - *paper) / m.sd);
  } else if (paper) {
    note = "One seed does not tell whether the two agree.";
  }
  if (paper && !authors.empty()) {
    note += fmt::format(" The authors' code on these files: {}.", numbers_text(authors));
  }
  return note + all.notes();
}

// Two standard deviations of a run, since the paper's number is of few runs too.
void add_judged(const Standings& all, const Entrant& entrant, const char* quantity,
                const Measured& m, std::optional<double> paper, const std::vector<double>& authors,
                Results& results) {
  if (!all.comparable) paper.reset();
  const bool judged = paper && m.sd > 0;
  results.add(quantity, all.setting(entrant), m, note_of(all, m, paper, authors),
              judged ? agrees_if(std::abs(m.mean - *paper) <= 2 * m.sd) : Verdict::not_published,
              paper);
}

void add_rows(const Standings& all, Results& results) {
  for (const Standing& s : all.standings) {
    if (s.runs.empty()) continue;
    const std::optional<Published> paper = published(all.set.name, s.entrant.label);
    const AuthorsRuns authors = authors_runs(all.set.name, s.entrant.label);
    const auto of_paper = [&](double Published::*member) {
      return paper ? std::optional(paper.value().*member) : std::nullopt;
    };
    add_judged(all, s.entrant, "log_likelihood", s.log_likelihood(),
               of_paper(&Published::log_likelihood), authors.log_likelihood, results);
    add_judged(all, s.entrant, "test_rmse", s.test_rmse(), of_paper(&Published::test_rmse),
               authors.test_rmse, results);
  }
}

void add_speed_rows(const Standings& all, Results& results) {
  for (const Standing& s : all.standings) {
    if (s.runs.empty()) continue;
    const auto add = [&](const char* quantity, double Course::*of, const std::string& note) {
      results.add(quantity, all.setting(s.entrant), over_runs(s.runs, of), note);
    };
    if (s.entrant.sampler == "dmala" || s.entrant.sampler == "gwg") {
      add("acceptance", &Course::acceptance, "Over all steps.");
      add("acceptance_at_the_end", &Course::last_acceptance, "Over the last tenth of the steps.");
    }
    add("changed_at_the_end", &Course::last_changed,
        fmt::format("Of {} weights in a step, over the last tenth of the steps.", all.dim()));
    add("seconds", &Course::seconds,
        fmt::format("Of the clock for {} steps of {} chains, on all threads or the GPU, without "
                    "the measurements.",
                    all.scale.steps, all.scale.chains));
  }
}

report::Table table_of(const std::vector<Standings>& all, const char* what, const char* caption,
                       Measured (Standing::*of)() const, double Published::*of_paper) {
  report::Table table{caption, {"Sampler"}};
  for (const Standings& s : all) {
    table.columns.push_back(s.set.name + ": " + what);
    if (s.comparable) table.columns.push_back(s.set.name + ": paper");
  }
  for (std::size_t k = 0; k < all[0].standings.size(); ++k) {
    const std::string& label = all[0].standings[k].entrant.label;
    std::vector<report::Cell> row{label};
    for (const Standings& s : all) {
      const Standing& standing = s.standings[k];
      if (standing.runs.empty()) {
        row.emplace_back(std::nan(""), "-");
      } else {
        const Measured m = (standing.*of)();
        row.emplace_back(m.mean, m.error ? fmt::format("{:.4f} ± {:.4f}", m.mean, m.sd)
                                         : fmt::format("{:.4f}", m.mean));
      }
      if (!s.comparable) continue;
      const auto paper = published(s.set.name, label);
      const double value = paper ? paper.value().*of_paper : std::nan("");
      row.emplace_back(value, paper ? fmt::format("{:.4f}", value) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_tables(const std::vector<Standings>& all, Results& results) {
  results.sections.push_back(
      {"Fit and test error after the last step",
       {"Log-likelihood is the mean over chains of -(1/N) sum (f - y)^2 on the N rows that are "
        "sampled from. The test error is that of the mean prediction of all chains, at their last "
        "states alone: it has noise near 0.01 from seed to seed and does not rank the samplers."},
       {},
       {table_of(all, "log-likelihood", "Log-likelihood, ± one standard deviation over seeds.",
                 &Standing::log_likelihood, &Published::log_likelihood),
        table_of(all, "test error",
                 "Root mean squared error on test rows, ± one standard deviation.",
                 &Standing::test_rmse, &Published::test_rmse)}});
}

// ---- The curves

Series curve(const Standing& s, const Scale& scale, std::vector<double> Course::*values) {
  Series series{s.entrant.label};
  for (std::size_t at = 0; at < (s.runs[0].*values).size(); ++at) {
    const Measured m = over_runs(s.runs, [&](const Course& c) { return (c.*values)[at]; });
    series.add(static_cast<double>(1 + at * scale.every), m.mean);
    if (m.error) add_band(m, series);
  }
  return series;
}

Plot plot_of(const Standings& all, const std::string& title, const char* y_label,
             std::vector<double> Course::*values) {
  Plot plot{.title = title,
            .x_label = "steps",
            .y_label = y_label,
            .summary = "Means over seeds, with bands of one standard deviation."};
  for (const Standing& s : all.standings) {
    if (!s.runs.empty()) plot.series.push_back(curve(s, all.scale, values));
  }
  return plot;
}

void add_curves(const Standings& all, Results& results) {
  const std::string& name = all.set.name;
  Section section{"The data set " + name,
                  {fmt::format("{} rows to sample from, {} to test, {} features; {} hidden units, "
                               "so that there are {} weights; {} chains.{}",
                               all.set.train.rows(), all.set.test.rows(), all.set.train.features,
                               all.scale.hidden, all.dim(), all.scale.chains, all.notes())}};
  const bool some = std::any_of(all.standings.begin(), all.standings.end(),
                                [](const Standing& s) { return !s.runs.empty(); });
  if (some) {
    section.plots = {
        plot_of(all, name + ": log-likelihood", "log-likelihood", &Course::log_likelihood),
        plot_of(all, name + ": test error", "root mean squared error", &Course::test_rmse)};
  }
  results.sections.push_back(std::move(section));
}

// ---- All of it

void add_findings(Context& context, const std::vector<Standings>& all, int missing,
                  Results& results) {
  if (context.quick()) {
    results.findings.push_back(
        "This is the quick version: smaller networks, fewer chains and steps. Its numbers cannot "
        "be compared with the paper's.");
  }
  if (missing > 0) {
    results.findings.push_back(
        fmt::format("{} runs are missing, because time was up (--time). The same call with the "
                    "same --out goes on with them.",
                    missing));
  }
  for (const Standings& s : all) {
    const auto best = std::max_element(
        s.standings.begin(), s.standings.end(), [](const Standing& a, const Standing& b) {
          if (b.runs.empty()) return false;
          return a.runs.empty() || a.log_likelihood().mean < b.log_likelihood().mean;
        });
    if (best->runs.empty()) continue;
    results.findings.push_back(fmt::format(
        "{}: {} fits best, with a log-likelihood of {:.4f} after {} steps.{}", s.set.name,
        best->entrant.label, best->log_likelihood().mean, s.scale.steps, s.notes()));
  }
}

}  // namespace

Results run_bnn(Context& context) {
  const Options& options = context.options();
  const std::vector<Entrant> field = entrants(context.alphas({kPaperAlpha}));
  std::vector<Standings> all;
  for (const std::string& name : options.only) {
    context.progress("reading " + name);
    Standings s{
        load_regression_set(name, options.data), scale_of(name, context.quick()), {}, false};
    s.comparable = !context.quick();
    for (const Entrant& entrant : field) s.standings.push_back({entrant, {}});
    all.push_back(std::move(s));
  }
  const int missing = run_cells(context, all);
  Results results;
  add_findings(context, all, missing, results);
  add_tables(all, results);
  for (const Standings& s : all) {
    add_curves(s, results);
    add_rows(s, results);
    add_speed_rows(s, results);
  }
  return results;
}

}  // namespace saltus::reproduce
