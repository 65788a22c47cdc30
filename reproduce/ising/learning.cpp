// Learning the couplings of an Ising lattice from samples of it (Figure 5): who gets how far.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "reproduce/ising/lesson.hpp"

namespace saltus::reproduce {
namespace {

using namespace ising_learning;

constexpr double kReached = -5.0;   // what the paper's DMALA and DULA come to
constexpr double kCodeAlpha = 0.2;  // of DMALA in the released code
constexpr double kPaperSeconds = 800, kPaperRivalSeconds = 1400;

const Entrant kDmala{"DMALA", "dmala", 0.15}, kDula{"DULA", "dula", 0.1},
    kGwg{"GWG-1", "gwg", NAN, {{"flips", "1"}}}, kGibbs{"Gibbs-1", "gibbs"};

// ---- Runs

// All runs of a sampler with one number of steps in an iteration.
struct Line {
  Entrant entrant;
  std::uint64_t steps, iterations;
  std::vector<std::optional<Curve>> runs = {};  // by seed; none: not finished

  const Curve* first() const {
    const auto found = std::ranges::find_if(runs, &std::optional<Curve>::has_value);
    return found == runs.end() ? nullptr : &**found;
  }
  Json setting() const {
    return with(with(entrant.setting(), "steps", steps), "iterations", iterations);
  }
  template <class Of>
  Measured over(Of of) const {
    std::vector<double> values;
    for (const auto& run : runs) {
      if (run) values.push_back(std::invoke(of, *run));
    }
    return measured(values);
  }
};

// The mean of of(ours, theirs) over seeds that both have finished.
template <class Of>
Measured over_seeds(const Line& ours, const Line& theirs, Of of) {
  std::vector<double> values;
  for (std::size_t run = 0; run < std::min(ours.runs.size(), theirs.runs.size()); ++run) {
    if (ours.runs[run] && theirs.runs[run])
      values.push_back(of(*ours.runs[run], *theirs.runs[run]));
  }
  return measured(values);
}

// The lines of the figure; those of the comparison, with scale.steps, are the last ones.
struct Lines {
  Scale scale;
  std::vector<Line> all = {};

  const Line& of(const Entrant& entrant, std::uint64_t steps) const {
    return *std::ranges::find_if(all, [&](const Line& line) {
      return line.entrant.name() == entrant.name() && line.steps == steps;
    });
  }
  // With scale.steps: DMALA of the paper's appendix first.
  std::vector<const Line*> compared() const {
    std::vector<const Line*> list = {&of(kDmala, scale.steps)};
    for (const Line& line : all) {
      if (line.steps == scale.steps && &line != list[0]) list.push_back(&line);
    }
    return list;
  }
};

Lines lines_of(const Scale& scale, const std::vector<double>& further_alphas) {
  Lines lines{scale};
  for (const std::uint64_t steps : scale.numbers_of_steps) {
    for (const Entrant& entrant : {kDmala, kDula, kGwg, kGibbs}) {
      const bool longer = entrant.sampler == "gibbs" && steps == scale.steps;
      lines.all.push_back({entrant, steps, longer ? scale.gibbs_iterations : scale.iterations});
    }
  }
  for (const double alpha : further_alphas) {
    if (alpha == kDmala.alpha) continue;
    lines.all.push_back({{"DMALA", "dmala", alpha}, scale.steps, scale.iterations});
  }
  return lines;
}

// Runs what is not kept, line after line with all seeds, so that a run that is cut short has whole
// lines. Returns how many runs are missing because time was up.
int run_lines(Context& context, const Truth& truth, Lines& lines) {
  struct Task {
    Line* line;
    std::size_t run;
    Json key;
  };
  Shelf shelf(context.options().partial);
  std::vector<Task> tasks;
  struct Data {
    std::once_flag drawn;
    RowBuffer<Symbol> rows;
  };
  std::vector<Data> data(context.seeds());  // drawn where a run needs them
  for (Line& line : lines.all) {
    line.runs.resize(context.seeds());
    for (std::size_t run = 0; run < context.seeds(); ++run) {
      tasks.push_back(
          {&line, run,
           key_of(lines.scale, line.entrant, line.steps, line.iterations, context.seed(run))});
    }
  }
  context.parallel("runs", tasks.size(), [&](std::size_t t) {
    const auto& [line, run, key] = tasks[t];
    line->runs[run] = shelf.get(context, key, [&, line = line, run = run] {
      std::call_once(data[run].drawn,
                     [&] { data[run].rows = draw_data(context, lines.scale, context.seed(run)); });
      const Lesson lesson{lines.scale, truth, data[run].rows.view(), context.seed(run)};
      return learn(context, lesson, line->entrant, line->steps, line->iterations);
    });
  });
  return shelf.missing();
}

// ---- Rows of the comparison

double last_error(const Curve& c) {
  return c.log_rmse.back();
}
// When a run first had the error that the paper's DMALA and DULA come to: in seconds, iterations.
double seconds_until(const Curve& c) {
  return c.first_at(kReached, c.seconds);
}
double iterations_until(const Curve& c) {
  return c.first_at(kReached, c.iterations);
}

Measured less(Measured m, double value) {
  m.mean -= value;
  return m;
}

bool of_the_paper(const Entrant& entrant) {
  return entrant.name() == kDmala.name() || entrant.name() == kDula.name();
}

std::string note_of(const Line& line, bool quick) {
  if (!line.first()->failure.empty()) return line.first()->failure;
  if (quick) return "Quick version: a smaller lattice, which the paper does not have.";
  if (line.first()->turned()) return line.first()->turn_text();
  if (line.entrant.name() == "DMALA 0.2") {
    return "The step size of the released code; the paper's appendix has 0.15.";
  }
  return "";
}

// "DMALA and DULA get a log RMSE of -5.0": where ours end, and when they first were there.
void add_reaching(const Line& line, bool quick, Results& results) {
  const Measured end = line.over(last_error);
  Row& row = results.add("log_rmse", line.setting(), end, note_of(line, quick));
  if (quick) return;
  if (of_the_paper(line.entrant)) {
    row.paper = kReached;
    row.verdict = judge_sign(less(end, kReached), Sign::negative);
    row.note = "The paper: gets -5.0, so that ours is to end there or below.";
  }
  const Measured when = line.over(seconds_until);
  if (std::isnan(when.mean)) return;
  const Json reached = with(line.entrant.setting(), "log_rmse", kReached);
  Row& until = results.add("seconds_until", reached, when, "Processor seconds of one core.");
  if (of_the_paper(line.entrant)) {
    until.note += " The paper: 800 s, of PyTorch on an unnamed GPU; times do not carry over.";
  }
  results.add("iterations_until", reached, line.over(iterations_until));
}

void add_numbers(const Line& line, Results& results) {
  const auto add = [&](const char* quantity, auto of, const char* note = "") {
    results.add(quantity, with(line.entrant.setting(), "steps", line.steps), line.over(of), note);
  };
  add("acceptance", &Curve::acceptance);
  add("proposed_changes", &Curve::proposed,
      line.entrant.sampler == "gibbs" ? "Of all steps of an iteration: sites that were drawn."
                                      : "");
  add(
      "milliseconds_per_iteration",
      [](const Curve& c) { return 1e3 * c.seconds.back() / c.iterations.back(); },
      "Processor time of one core.");
  add(
      "coupling_of_neighbours", [](const Curve& c) { return c.last.on_edges; },
      "The truth is 0.25; the l1 penalty pulls towards 0.");
  add(
      "coupling_of_others", [](const Curve& c) { return c.last.elsewhere; },
      "Root mean square; the truth is 0.");
}

// Figure 5a: "DMALA and DULA always have smaller RMSE than baselines given the same number of
// iterations."
void judge_by_iterations(const Lines& lines, Results& results) {
  Statement statement{Sign::negative};
  for (const Entrant& ours : {kDmala, kDula}) {
    for (const Entrant& theirs : {kGwg, kGibbs}) {
      for (const double at : {1000, 2000, 5000, 10'000}) {
        const Measured m = over_seeds(
            lines.of(ours, lines.scale.steps), lines.of(theirs, lines.scale.steps),
            [&](const Curve& a, const Curve& b) { return a.error_at(at) - b.error_at(at); });
        statement.add("log_rmse_difference",
                      {{"sampler", ours.name()},
                       {"less", theirs.name()},
                       {"steps", lines.scale.steps},
                       {"iterations", static_cast<std::uint64_t>(at)}},
                      m, "Figure 5a: always smaller after the same number of iterations.");
      }
    }
  }
  statement.judge(results);
}

// Figure 5b: "the baseline methods fail to reach -5.0 in 1,400 s", which is 1.75 times as long as
// DMALA and DULA take.
void judge_by_time(const Lines& lines, Results& results) {
  const Measured when = lines.of(kDmala, lines.scale.steps).over(seconds_until);
  if (std::isnan(when.mean) || when.runs == 0) return;
  const double until = when.mean * kPaperRivalSeconds / kPaperSeconds;
  Statement statement{Sign::positive, kReached};
  for (const Entrant& entrant : {kGwg, kGibbs}) {
    const Line& line = lines.of(entrant, lines.scale.steps);
    if (!line.first()) continue;
    const Measured m = line.over([&](const Curve& c) { return c.best_until(until, c.seconds); });
    const Measured ran = line.over([](const Curve& c) { return c.seconds.back(); });
    std::string note = fmt::format(
        "Figure 5b: not at -5.0 after 1.75 times the time of DMALA, here {:.0f} s.", until);
    if (ran.mean < until) note += fmt::format(" It ran for {:.0f} s only.", ran.mean);
    statement.add("least_log_rmse_in_time",
                  with(entrant.setting(), "seconds", static_cast<std::uint64_t>(std::round(until))),
                  m, note);
  }
  statement.judge(results);
}

Series reference(const std::string& name, double from, double to, double value) {
  return {name, {from, to}, {value, value}};
}

// The first run of each; every point at least a fiftieth beyond the one before.
Plot error_plot(const Lines& lines, const Truth& truth, bool by_seconds) {
  Plot plot =
      labelled(by_seconds ? "Error against time" : "Error against iterations",
               by_seconds ? "seconds of one core" : "iterations", "log RMSE of the couplings",
               by_seconds ? "The same runs against the processor time that they took here."
                          : "The first seed. Couplings that are all 0 are the upper line.");
  plot.wide = true;
  double last = 0;
  for (const Line* line : lines.compared()) {
    if (!line->first()) continue;
    const Curve& c = *line->first();
    const std::vector<double>& x = by_seconds ? c.seconds : c.iterations;
    last = std::max(last, x.back());
    Series& series = plot.series.emplace_back(Series{line->entrant.name()});
    for (const std::size_t k : report::evenly_spread(x.size(), 250))
      series.add(x[k], c.log_rmse[k]);
  }
  plot.series.push_back(reference("all couplings 0", 0, last, truth.log_rmse_of_zero()));
  return plot;
}

// ---- Error against the sampler's steps in an iteration

// "Gibbs-1 diverges with less than 100 steps": from some iteration on its error grows, in every
// run.
void judge_divergence(const Line& line, Row& row) {
  const Measured grown =
      line.over([](const Curve& c) { return c.failure.empty() && !c.turned() ? 0.0 : 1.0; });
  row.verdict = grown.mean == 1   ? Verdict::agrees
                : grown.mean == 0 ? Verdict::differs
                                  : Verdict::undecided;
  row.note = "The paper: diverges with less than 100 steps. ";
  row.note += line.first()->turned() ? line.first()->turn_text() : "Its error does not grow here.";
}

// Figure 5c: "DMALA and DULA outperform GWG consistently".
void judge_by_steps(const Lines& lines, Results& results) {
  Statement statement{Sign::negative};
  for (const Entrant& ours : {kDmala, kDula}) {
    for (const std::uint64_t steps : lines.scale.numbers_of_steps) {
      statement.add(
          "log_rmse_difference",
          {{"sampler", ours.name()}, {"less", kGwg.name()}, {"steps", steps}},
          over_seeds(lines.of(ours, steps), lines.of(kGwg, steps),
                     [](const Curve& a, const Curve& b) { return last_error(a) - last_error(b); }),
          fmt::format("Figure 5c: smaller for every number of steps, after {} iterations.",
                      lines.scale.iterations));
    }
  }
  statement.judge(results);
}

// "The improvement becomes larger when the number of sampling steps becomes smaller": the slope of
// GWG-1's error less ours in the logarithm of the number of steps, by least squares for each seed.
void judge_growth(const Lines& lines, Results& results) {
  Statement statement{Sign::negative};
  const std::vector<std::uint64_t>& numbers = lines.scale.numbers_of_steps;
  for (const Entrant& ours : {kDmala, kDula}) {
    std::vector<double> slopes;
    for (std::size_t run = 0; run < lines.all[0].runs.size(); ++run) {
      double n = 0, x = 0, y = 0, xx = 0, xy = 0;
      for (const std::uint64_t steps : numbers) {
        const auto &a = lines.of(ours, steps).runs[run], &b = lines.of(kGwg, steps).runs[run];
        if (!a || !b) continue;
        const double u = std::log(static_cast<double>(steps)), v = last_error(*b) - last_error(*a);
        n += 1, x += u, y += v, xx += u * u, xy += u * v;
      }
      if (n == static_cast<double>(numbers.size())) {
        slopes.push_back((n * xy - x * y) / (n * xx - x * x));
      }
    }
    statement.add("growth_of_improvement",
                  {{"sampler", ours.name()},
                   {"against", kGwg.name()},
                   {"iterations", lines.scale.iterations}},
                  measured(slopes),
                  "The paper: the improvement over GWG-1 becomes larger with fewer steps. This is "
                  "its slope in the log of the number of steps, which is to be negative.");
  }
  statement.judge(results);
}

void add_by_steps(const Lines& lines, const Truth& truth, bool quick, Results& results) {
  const Scale& scale = lines.scale;
  Plot plot = labelled("Error against steps of the sampler", "steps in an iteration",
                       fmt::format("log RMSE after {} iterations", scale.iterations),
                       "The fewer steps, the less the chains keep up with the model that learns.");
  plot.log_x = plot.wide = true;
  for (const Entrant& entrant : {kDmala, kDula, kGwg, kGibbs}) {
    Series& series = plot.series.emplace_back(Series{entrant.name()});
    for (const std::uint64_t steps : scale.numbers_of_steps) {
      const Line& line = lines.of(entrant, steps);
      if (!line.first()) continue;
      const auto iterations = static_cast<double>(scale.iterations);
      const Measured m = line.over([&](const Curve& c) { return c.error_at(iterations); });
      series.add(static_cast<double>(steps), m.mean);
      if (m.error) add_band(m, series);
      if (line.iterations == scale.iterations && steps == scale.steps)
        continue;  // in the comparison
      Row& row = results.add(
          "log_rmse", with(with(entrant.setting(), "steps", steps), "iterations", scale.iterations),
          m, note_of(line, quick));
      if (entrant.sampler == "gibbs" && !quick && steps < scale.steps) judge_divergence(line, row);
    }
  }
  const auto& steps = scale.numbers_of_steps;
  plot.series.push_back(reference("all couplings 0", static_cast<double>(steps.front()),
                                  static_cast<double>(steps.back()), truth.log_rmse_of_zero()));
  if (!quick) judge_by_steps(lines, results);
  if (!quick) judge_growth(lines, results);
  results.sections.push_back(
      {"How many steps in an iteration",
       {fmt::format("Figure 5c: the error after {} iterations, with {} to {} steps of the sampler "
                    "in each.",
                    scale.iterations, steps.front(), steps.back())},
       {plot}});
}

// ---- The page

void add_section(const Lines& lines, const Truth& truth, bool quick, std::size_t seeds,
                 Results& results) {
  const Scale& scale = lines.scale;
  Section section{"Learning the couplings"};
  const int n = scale.side * scale.side;
  if (quick) {
    section.text.push_back(
        fmt::format("This is the quick version, on a lattice of {0} x {0} sites, smaller in all "
                    "its numbers; its errors are not the paper's, which belong to 25 x 25 sites.",
                    scale.side));
  }
  section.text.push_back(fmt::format(
      "Data: {} samples of the {}x{} torus with J = 0.25 A, each after {} updates of single sites, "
      "in their order, from fair coins. Model: all {} couplings, from normal numbers of standard "
      "deviation {}. In an iteration {} persistent chains make {} steps of the sampler; the "
      "gradient comes from {} of the data and all chains, with l1 penalty {} and Adam at rate {}.",
      scale.samples, scale.side, scale.side, kSweeps * static_cast<std::uint64_t>(n), n * n,
      kDeviation, scale.chains, scale.steps, scale.batch, kPenalty, kRate));
  section.text.push_back(fmt::format(
      "{} iterations, of Gibbs-1 {}, whose iterations cost less; {} seed{}. One step of Gibbs-1 "
      "and GWG-1 changes one site, one of DMALA or DULA any number. The paper's appendix has step "
      "sizes 0.15 (DMALA) and 0.1 (DULA), the released code 0.2 and 0.1.",
      scale.iterations, scale.gibbs_iterations, seeds, seeds == 1 ? "" : "s"));
  section.text.push_back(fmt::format(
      "With all couplings 0 the log RMSE is {:.3f}. Seconds are processor seconds of one core, on "
      "which a run learns, without the measuring; the paper's are of PyTorch on an unnamed GPU.",
      truth.log_rmse_of_zero()));
  section.plots = {error_plot(lines, truth, false), error_plot(lines, truth, true)};
  results.sections.push_back(std::move(section));
}

void add_findings(const Lines& lines, int missing, Results& results) {
  std::string ends, times;
  const auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  if (missing > 0) {
    results.findings.push_back(
        fmt::format("{} runs are missing, because time was up (--time). The same call with the "
                    "same --out goes on with them.",
                    missing));
  }
  for (const Line* line : lines.compared()) {
    if (!line->first()) continue;
    append(ends, fmt::format("{} {:.2f} after {:g} iterations", line->entrant.name(),
                             line->over(last_error).mean, line->first()->iterations.back()));
    const double seconds = line->over(seconds_until).mean;
    if (std::isnan(seconds)) continue;
    append(times, fmt::format("{} after {:.0f} iterations and {:.0f} s", line->entrant.name(),
                              line->over(iterations_until).mean, seconds));
  }
  if (!ends.empty()) {
    results.findings.push_back(fmt::format(
        "Log RMSE of the couplings of the {0} x {0} lattice: {1}.", lines.scale.side, ends));
  }
  if (!times.empty()) {
    results.findings.push_back(fmt::format("A log RMSE of {} is reached by {}.", kReached, times));
  }
}

// Of the data and of the start, which all lines with the same seed share.
void add_references(const Lines& lines, const Truth& truth, Results& results) {
  const auto most = std::ranges::max_element(lines.all, {}, [](const Line& line) {
    return std::ranges::count_if(line.runs, &std::optional<Curve>::has_value);
  });
  results.add("log_rmse", {{"couplings", "all 0"}}, {truth.log_rmse_of_zero()},
              "Exact: ln(0.25 sqrt(4 / sites)).");
  if (!most->first()) return;
  results.add("product_of_neighbours", {{"of", "the data"}}, most->over(&Curve::product),
              "0.87278 on an infinite lattice in equilibrium, by Onsager's solution.");
  results.add("log_rmse", {{"couplings", "at the start"}},
              most->over([](const Curve& c) { return c.log_rmse[0]; }));
}

}  // namespace

Results run_ising_learning(Context& context) {
  const Scale scale = context.quick() ? quick_scale() : full_scale();
  const Truth truth(scale);
  Lines lines = lines_of(scale, context.alphas({kCodeAlpha}));
  const int missing = run_lines(context, truth, lines);
  Results results;
  add_findings(lines, missing, results);
  add_references(lines, truth, results);
  for (const Line* line : lines.compared()) {
    if (line->first()) add_reaching(*line, context.quick(), results);
  }
  if (!context.quick()) judge_by_iterations(lines, results);
  if (!context.quick()) judge_by_time(lines, results);
  for (const Line* line : lines.compared()) {
    if (line->first()) add_numbers(*line, results);
  }
  add_section(lines, truth, context.quick(), context.seeds(), results);
  add_by_steps(lines, truth, context.quick(), results);
  return results;
}

}  // namespace saltus::reproduce
