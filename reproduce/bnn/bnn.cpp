// Bayesian neural networks with weights -1 and +1 on four data sets (Tables 2 and 4).
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reproduce/bnn/cell.hpp"

namespace saltus::reproduce {
namespace {

using namespace bnn;

// What the tables compare.
struct Quantity {
  const char *name, *title, *axis, *caption;
  std::vector<double> Course::*values;
  PublishedNumber Published::*paper;
  std::vector<double> Published::*authors;
  int better;  // the sign of a change for the better
};
constexpr Quantity kFit = {"log_likelihood",
                           "log-likelihood",
                           "log-likelihood",
                           "Log-likelihood, ± one standard deviation over seeds.",
                           &Course::log_likelihood,
                           &Published::log_likelihood,
                           &Published::authors_log_likelihood,
                           1};
constexpr Quantity kTestError = {"test_rmse",
                                 "test error",
                                 "root mean squared error",
                                 "Root mean squared error on test rows, ± one standard deviation.",
                                 &Course::test_rmse,
                                 &Published::test_rmse,
                                 &Published::authors_test_rmse,
                                 -1};

// All finished runs of one sampler on one set.
struct Standing {
  Entrant entrant;
  std::vector<Course> runs;
  Measured last(const Quantity& q) const {
    return over_runs(runs, [&](const Course& c) { return (c.*q.values).back(); });
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

std::string note_of(const Measured& m, const PublishedNumber& paper,
                    const std::vector<double>& authors) {
  std::string note = fmt::format("The paper: ± {:.4f}. ", paper.deviation);
  note += m.error ? fmt::format("Ours has a standard deviation of {:.4f} over seeds.", m.sd)
                  : "One seed does not tell whether the two agree.";
  if (authors.empty()) return note;
  return note + fmt::format(" The authors' code on these files: {:.4f}.", fmt::join(authors, ", "));
}

void add_rows(const Standings& all, Results& results) {
  for (const Standing& s : all.standings) {
    if (s.runs.empty()) continue;
    const auto known = published(all.set.name, s.entrant.label);
    for (const Quantity& q : {kFit, kTestError}) {
      const Measured m = s.last(q);
      Row& row = results.add(q.name, all.setting(s.entrant), m);
      if (known && all.comparable) {
        const PublishedNumber& paper = known.value().*q.paper;
        row.paper = paper.value;
        row.note = note_of(m, paper, known.value().*q.authors);
        row.verdict = judge_number(m, paper.printed());
      }
      row.note += all.notes();
    }
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

report::Table table_of(const std::vector<Standings>& all, const Quantity& q) {
  report::Table table{q.caption, {"Sampler"}};
  for (const Standings& s : all) {
    table.columns.push_back(s.set.name + ": " + q.title);
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
        const Measured m = standing.last(q);
        row.emplace_back(m.mean, m.error ? fmt::format("{:.4f} ± {:.4f}", m.mean, m.sd)
                                         : fmt::format("{:.4f}", m.mean));
      }
      if (!s.comparable) continue;
      const auto paper = published(s.set.name, label);
      if (!paper) {
        row.emplace_back(std::nan(""), "-");
        continue;
      }
      const PublishedNumber& p = paper.value().*q.paper;
      row.emplace_back(p.value, fmt::format("{:.4f} ± {:.4f}", p.value, p.deviation));
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
       {table_of(all, kFit), table_of(all, kTestError)}});
}

Plot plot_of(const Standings& all, const Quantity& q) {
  Plot plot = labelled(all.set.name + ": " + q.title, "steps", q.axis,
                       "Means over seeds, with bands of one standard deviation.");
  for (const Standing& s : all.standings) {
    if (s.runs.empty()) continue;
    Series& series = plot.series.emplace_back(Series{s.entrant.label});
    for (std::size_t at = 0; at < (s.runs[0].*q.values).size(); ++at) {
      const Measured m = over_runs(s.runs, [&](const Course& c) { return (c.*q.values)[at]; });
      series.add(static_cast<double>(1 + at * all.scale.every), m.mean);
      if (m.error) add_band(m, series);
    }
  }
  return plot;
}

void add_curves(const Standings& all, Results& results) {
  Section section{"The data set " + all.set.name,
                  {fmt::format("{} rows to sample from, {} to test, {} features; {} hidden units, "
                               "so that there are {} weights; {} chains.{}",
                               all.set.train.rows(), all.set.test.rows(), all.set.train.features,
                               all.scale.hidden, all.dim(), all.scale.chains, all.notes())}};
  if (std::ranges::any_of(all.standings, [](const Standing& s) { return !s.runs.empty(); })) {
    section.plots = {plot_of(all, kFit), plot_of(all, kTestError)};
  }
  results.sections.push_back(std::move(section));
}

// How often Gibbs and GWG are worse than the paper has them, set by set.
void add_shortfall(const Standings& all, Results& results) {
  int worse = 0, count = 0;
  for (const Standing& s : all.standings) {
    const auto known = published(all.set.name, s.entrant.label);
    if (s.runs.empty() || !known || !all.comparable || !std::isnan(s.entrant.alpha)) continue;
    for (const Quantity& q : {kFit, kTestError}) {
      worse += q.better * (s.last(q).mean - (known.value().*q.paper).value) < 0;
      ++count;
    }
  }
  if (count == 0) return;
  results.findings.push_back(
      fmt::format("{}: Gibbs and GWG fall short of the paper in {} of {} numbers, fit and test "
                  "error.",
                  all.set.name, worse, count));
}

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
          return a.runs.empty() || a.last(kFit).mean < b.last(kFit).mean;
        });
    if (best->runs.empty()) continue;
    results.findings.push_back(fmt::format(
        "{}: {} fits best, with a log-likelihood of {:.4f} after {} steps.{}", s.set.name,
        best->entrant.label, best->last(kFit).mean, s.scale.steps, s.notes()));
    add_shortfall(s, results);
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
