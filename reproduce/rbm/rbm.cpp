// Sampling from a restricted Boltzmann machine of MNIST digits (Figure 4), and what the step-size
// term of the proposal is for (the ablation on the same model).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "reproduce/data/data_folder.hpp"
#include "reproduce/rbm/race.hpp"
#include "saltus/io/images.hpp"

namespace saltus::reproduce {
namespace {

using report::Plot;
using report::Series;

constexpr std::uint64_t kSteps = 5000, kShortSteps = 2000;
constexpr double kPaperLogMmd = -6.5, kPaperAcceptance = 0.51, kPaperWithoutTerm = 5e-5;
constexpr const char* kDmala = "DMALA 0.2";
constexpr const char* kWithout = "DMALA without the term";

// What the code that the paper's authors published gives on the RBM of the set rbm_reference.
struct AuthorsCode {
  double log_mmd = -5.51, sd = 0.45;  // DMALA 0.2 at step 5000, over chain seeds
  int runs = 8;
  double acceptance = 0.507;  // over 5000 steps
};
struct AuthorsEquilibrium {
  double alpha, acceptance, proposed;
};
constexpr AuthorsEquilibrium kAuthorsEquilibrium[] = {{0.1, 0.982, 1.18}, {0.15, 0.796, 5.93},
                                                      {0.2, 0.501, 12.8}, {0.3, 0.126, 26.3},
                                                      {0.4, 0.026, 36.7}, {INFINITY, 8e-12, NAN}};

// What belongs to one RBM.
struct Standings {
  const Race& race;
  Floor floor;
  std::uint64_t steps;

  const Machine& machine() const { return *race.machine; }
  // The paper's numbers are for its training and its number of steps.
  bool comparable() const { return machine().whole && steps == kSteps; }
  bool reference() const { return machine().name == "reference"; }
  Json rbm() const { return {{"rbm", machine().name}}; }
  Json setting(const Standing& s) const { return with(s.entrant.setting(rbm()), "steps", steps); }
};

// ---- Distance from the samples

// "DMALA is at about -6.5 after 5000 iterations."
void judge_level(const Standings& all, const Measured& m, Row& row) {
  row.note = fmt::format(
      "The paper's value, about -6.5, is the floor of this statistic: what a perfect sampler has "
      "({:.2f} on average here, {:.2f} by the formula). Whether 5000 steps suffice to get there "
      "depends on the RBM and the seed.",
      all.floor.mean, all.floor.formula);
  if (!all.comparable()) return;
  row.paper = kPaperLogMmd;
  row.verdict = agrees_if(std::abs(m.mean - kPaperLogMmd) <= 0.25);
  if (!all.reference()) return;
  const AuthorsCode code;
  row.note += fmt::format(" The authors' code on this RBM: {} (sd {} over {} seeds).", code.log_mmd,
                          code.sd, code.runs);
}

// Against the authors' code on the same RBM, from the same states.
void add_authors_row(const Standings& all, Results& results) {
  const AuthorsCode code;
  const Standing& s = all.race.of(kDmala);
  // A run has a standard deviation of 0.45: a few of them say nothing.
  if (!all.reference() || !all.comparable() || std::cmp_less(s.runs.size(), code.runs)) return;
  const Measured m = s.log_mmd();
  const double error = std::hypot(*m.error, code.sd / std::sqrt(code.runs));
  const double difference = m.mean - code.log_mmd;
  results.add("log_mmd_less_authors_code", with(all.setting(s), "authors_code", code.log_mmd),
              {difference, 0, error},
              fmt::format("Ours, {:.2f} with sd {:.2f} over {} seeds, less that of the authors' "
                          "code on the same RBM, {} with sd {} over {}.",
                          m.mean, m.sd, s.runs.size(), code.log_mmd, code.sd, code.runs),
              agrees_if(std::abs(difference) <= 2 * error), 0.0);
}

// "DMALA has the lowest MMD": run by run, from the same states.
void add_lead(const Standings& all, Results& results) {
  const Standing& best = all.race.of(kDmala);
  for (const char* other : {"Gibbs-1", "HB-10-1", "GWG-1", "DULA 0.1"}) {
    const Standing& s = all.race.of(other);
    const Measured m = over_pairs(best.runs, s.runs, [](const Course& a, const Course& b) {
      return a.log_mmd.back() - b.log_mmd.back();
    });
    const bool lower = m.error && m.mean + 2 * *m.error < 0;
    results.add(
        "log_mmd_difference",
        {{"rbm", all.machine().name}, {"sampler", kDmala}, {"less", other}, {"steps", all.steps}},
        m,
        !m.error ? "One seed does not tell who is ahead."
        : lower  ? "The paper: DMALA converges fastest."
                 : "The paper has DMALA lowest; over these seeds it is not clearly so.",
        m.error ? agrees_if(lower) : Verdict::not_published);
  }
}

void add_level_rows(const Standings& all, Results& results) {
  for (const Standing& s : all.race.standings) {
    Row& row = results.add("log_mmd", all.setting(s), s.log_mmd(),
                           "The figure shows a curve without numbers.");
    if (s.entrant.name() == kDmala) judge_level(all, s.log_mmd(), row);
    results.add("mmd_u_statistic", all.setting(s), over_runs(s.runs, &Course::u_statistic),
                "MMD^2 without its bias: 0 on average for perfect samples.");
  }
}

void add_floor_rows(const Standings& all, Results& results) {
  const auto add = [&](const char* quantity, const char* by, double value, const char* note) {
    results.add(quantity, with(all.rbm(), "by", by), {value}, note);
  };
  const Floor& f = all.floor;
  add("log_mmd_floor", "formula", f.formula,
      "(1/100 + 1/500) (1 - E k), with E k from the reference samples.");
  add("log_mmd_floor", "second set", f.second_set,
      "The 100 samples of the model that are not in the reference set, against it.");
  add("log_mmd_floor", "re-splits", f.mean,
      "Mean over 50 random splits of the 600 samples into 500 and 100.");
  add("log_mmd_floor_sd", "re-splits", f.sd, "Of one split: how noisy the floor is.");
}

void add_start_row(Context& context, const Standings& all, Results& results) {
  std::vector<double> values;
  const std::size_t runs = all.machine().start.view() ? 1 : context.seeds();
  for (std::size_t r = 0; r < runs; ++r) {
    const RowBuffer<Symbol> x = all.machine().start_states(context.seed(r));
    values.push_back(std::log(all.race.reference.squared(x.view()).v_statistic));
  }
  results.add("log_mmd_start", all.rbm(), measured(values),
              "Of the states that all chains start from.");
}

// Every second point, with a band of one standard deviation over seeds.
Series curve(const Standing& s, bool by_seconds) {
  Series series{s.entrant.name()};
  const std::size_t points = s.runs[0].log_mmd.size();
  const double a_point = s.seconds().mean / static_cast<double>(points);
  for (std::size_t at = 1; at < points; at += 2) {
    const Measured m = over_runs(s.runs, [&](const Course& c) { return c.log_mmd[at]; });
    const auto n = static_cast<double>(at + 1);
    series.add(by_seconds ? n * a_point : n * static_cast<double>(kMmdEvery), m.mean);
    if (m.error) add_band(m, series);
  }
  return series;
}

Plot mmd_plot(const Standings& all, bool by_seconds) {
  Plot plot{.title = fmt::format("The {} RBM: log MMD against {}", all.machine().name,
                                 by_seconds ? "time" : "steps"),
            .x_label = by_seconds ? "seconds of one core, 100 chains" : "steps",
            .y_label = "log MMD",
            .log_x = by_seconds,
            .summary = by_seconds ? "The same curves against the time that each sampler took here."
                                  : "Mean over seeds, with bands of one standard deviation. The "
                                    "two lines are the floor, where perfect samples are.",
            .wide = true};
  double from = INFINITY, to = 0;
  for (const Standing& s : all.race.standings) {
    if (std::isinf(s.entrant.alpha)) continue;
    plot.series.push_back(curve(s, by_seconds));
    from = std::min(from, plot.series.back().x.front());
    to = std::max(to, plot.series.back().x.back());
  }
  const Floor& f = all.floor;
  plot.series.push_back({"floor by the formula", {from, to}, {f.formula, f.formula}});
  plot.series.push_back({"second set", {from, to}, {f.second_set, f.second_set}});
  return plot;
}

// ---- Pictures

void add_picture(const std::string& file, const std::string& label, Rows<const Symbol> rows,
                 Section& section) {
  if (!can_write_png()) return;
  rows.rows = std::min(rows.rows, 100);
  section.pictures.push_back({file + ".png",
                              {png_grid(rows, {.height = 28, .width = 28}),
                               "a grid of 10 x 10 images of 28 x 28 pixels: " + label, label}});
}

void add_pictures(const Standings& all, Section& section) {
  const std::string& rbm = all.machine().name;
  add_picture(rbm + "-samples", "reference samples", all.machine().reference(), section);
  for (const Standing& s : all.race.standings) {
    if (std::isinf(s.entrant.alpha)) continue;
    add_picture(rbm + "-" + s.entrant.sampler, s.entrant.name(), s.runs[0].last.view(), section);
  }
  section.pictures_caption = fmt::format(
      "Samples of the {} RBM, and the samplers' 100 chains after {} steps.", rbm, all.steps);
}

std::string about(const Standings& all, const Context& context) {
  const Machine& machine = all.machine();
  const std::string origin =
      all.reference()
          ? "The RBM of the data set rbm_reference, trained by the code that the paper's authors "
            "published, with that code's samples and its 100 starting states."
          : fmt::format(
                "Trained here with seed {}: 784 visible and 500 hidden units, CD-10, Adam with "
                "rate 0.001, batches of 100{}. Its 600 samples come from block-Gibbs chains; "
                "chains start from independent bits with the data's means.",
                context.seed(0),
                machine.whole ? ", one epoch of MNIST" : ", shortened for --quick");
  return origin +
         fmt::format(" {} chains of {} steps. The first 500 samples are the reference set Y.",
                     Machine::kStart, all.steps);
}

void add_distances(Context& context, const Standings& all, Results& results) {
  add_authors_row(all, results);
  add_lead(all, results);
  add_level_rows(all, results);
  add_floor_rows(all, results);
  add_start_row(context, all, results);
  Section section{fmt::format("Six samplers on the {} RBM", all.machine().name)};
  section.text = {
      about(all, context),
      fmt::format("Log MMD is the natural log of MMD^2 with the kernel exp(-(part of the pixels "
                  "that differ)), the V-statistic. It is not 0 for perfect samples but (1/100 + "
                  "1/500) (1 - E k) on average, a log of {:.2f} here, and noisy: random splits of "
                  "the samples have {:.2f} with a standard deviation of {:.2f}. A curve at this "
                  "floor cannot be told from perfect samples; below it is chance.",
                  all.floor.formula, all.floor.mean, all.floor.sd)};
  section.plots = {mmd_plot(all, false), mmd_plot(all, true)};
  add_pictures(all, section);
  results.sections.push_back(std::move(section));
}

// ---- The step-size term

Measured acceptance_of(const Standing& s, std::uint64_t from, std::uint64_t to) {
  return over_runs(s.runs, [&](const Course& c) { return Course::mean(c.acceptance, from, to); });
}

void judge_acceptance(const Standings& all, const Standing& s, const Measured& m, Row& row) {
  if (s.entrant.name() == kDmala && all.comparable()) {
    row.paper = kPaperAcceptance;
    row.verdict = agrees_if(std::abs(m.mean - kPaperAcceptance) <= 0.01);
    row.note = "The paper: 51 % on its own RBM.";
    if (all.reference()) {
      row.note += fmt::format(" The authors' code on this RBM: {}.", AuthorsCode{}.acceptance);
    }
  }
  if (s.entrant.name() != kWithout) return;
  if (all.comparable()) row.paper = kPaperWithoutTerm;
  if (all.comparable()) row.verdict = agrees_if(m.mean < 1e-4 && m.mean > 2.5e-5);
  row.note = fmt::format(
      "The paper: 0.005 %. The number belongs to no distribution: it falls as the chains approach "
      "the model ({:.2g} % over the first 100 steps, {:.2g} % after 1000), so that it depends on "
      "where and how long one looks. That hardly anything is accepted holds.",
      100 * acceptance_of(s, 0, 100).mean, 100 * acceptance_of(s, 1000, all.steps).mean);
}

void add_transient(const Standings& all, Results& results) {
  for (const Standing& s : all.race.standings) {
    if (s.entrant.sampler != "dmala" && s.entrant.sampler != "gwg") continue;
    const auto over = [&](const char* steps) { return with(all.setting(s), "over", steps); };
    const Measured m = acceptance_of(s, 0, all.steps);
    judge_acceptance(all, s, m, results.add("acceptance", over("all steps"), m));
    results.add(
        "proposed_changes", over("all steps"),
        over_runs(s.runs, [&](const Course& c) { return Course::mean(c.proposed, 0, all.steps); }),
        "Of 784.");
    if (!std::isinf(s.entrant.alpha)) continue;
    results.add("acceptance", over("first 100 steps"), acceptance_of(s, 0, 100));
    results.add("acceptance", over("steps after 1000"), acceptance_of(s, 1000, all.steps));
  }
}

void add_equilibrium(const Standings& all, double alpha, const Equilibrium& measured_here,
                     Results& results) {
  const Json setting = with(dmala(alpha).setting(all.rbm()), "over", "equilibrium");
  std::string code[2];
  for (const AuthorsEquilibrium& a : kAuthorsEquilibrium) {
    if (!all.reference() || a.alpha != alpha) continue;
    code[0] = fmt::format(" The authors' code: {:g}.", a.acceptance);
    if (a.proposed > 0) code[1] = fmt::format(" The authors' code: {:g}.", a.proposed);
  }
  const char* how = "Steps from the 600 samples with one seed; error over chains.";
  results.add("acceptance", setting, measured_here.acceptance, how + code[0]);
  results.add("proposed_changes", setting, measured_here.proposed, how + code[1]);
}

// Mean over seeds of the acceptance in stretches of 100 steps.
Series acceptance_curve(const Standings& all, const Standing& s) {
  Series series{fmt::format("{}, {} RBM", s.entrant.name(), all.machine().name)};
  for (std::uint64_t step = 0; step + 100 <= all.steps; step += 100) {
    series.add(static_cast<double>(step) + 50, acceptance_of(s, step, step + 100).mean);
  }
  return series;
}

void add_term(Context& context, const std::vector<Standings>& all, Results& results) {
  std::vector<double> alphas = context.alphas({0.1, 0.15, 0.2, 0.3, 0.4});
  alphas.push_back(INFINITY);
  const std::uint64_t steps = context.quick() ? 30 : 100;
  std::vector<Equilibrium> equilibria(all.size() * alphas.size());
  context.parallel("acceptance in equilibrium", equilibria.size(), [&](std::size_t t) {
    equilibria[t] = in_equilibrium(all[t / alphas.size()].machine(), alphas[t % alphas.size()],
                                   steps, context.seed(0));
  });
  Plot plot{.title = "Acceptance with and without the step-size term",
            .x_label = "steps",
            .y_label = "acceptance probability",
            .log_y = true,
            .summary =
                "With it about half of the proposals are accepted throughout; without it next to "
                "none, and fewer as the chains approach the model.",
            .wide = true};
  for (std::size_t k = 0; k < all.size(); ++k) {
    add_transient(all[k], results);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      add_equilibrium(all[k], alphas[a], equilibria[k * alphas.size() + a], results);
    }
    for (const char* name : {kDmala, kWithout}) {
      plot.series.push_back(acceptance_curve(all[k], all[k].race.of(name)));
    }
  }
  results.sections.push_back(
      {"What the step-size term is for",
       {"Without the term |x' - x|^2 / (2 alpha) of the proposal, that is with an infinite alpha, "
        "all coordinates for which the gradient speaks move at once: about 160 of 784 over the "
        "run, and the Metropolis test turns them down. The curves are means over stretches of 100 "
        "steps from the start. In equilibrium (steps that begin at samples of the model) the "
        "acceptance without the term is smaller by many orders of magnitude than over any stretch "
        "of these."},
       {plot}});
}

// ---- Time

void add_times(const std::vector<Standings>& all, Results& results) {
  report::Table table{
      "Seconds. Training and reference samples by the clock, on all threads; samplers on one core, "
      "without the computation of MMD.",
      {"What", "RBM", "Seconds"}};
  const auto add = [&](const std::string& what, const Json& setting, const Measured& m,
                       const char* note) {
    results.add("seconds", setting, m, note);
    table.rows.push_back({what, setting["rbm"].get<std::string>(),
                          report::Cell(m.mean, fmt::format("{:.2f}", m.mean))});
  };
  for (const Standings& s : all) {
    const Machine& machine = s.machine();
    if (machine.training_seconds > 0) {
      add("training", with(s.rbm(), "for", "training"), {machine.training_seconds},
          "Of the clock, on all threads.");
      add("reference samples", with(s.rbm(), "for", "reference samples"),
          {machine.sampling_seconds},
          "Of the clock, on all threads: block-Gibbs sweeps of 600 chains.");
    }
    for (const Standing& standing : s.race.standings) {
      add(fmt::format("{} steps of {}", s.steps, standing.entrant.name()), s.setting(standing),
          standing.seconds(), "Of one core, for 100 chains.");
    }
  }
  results.sections.push_back(
      {"Time",
       {"The paper's times are those of PyTorch on an unnamed GPU, and do not carry over."},
       {},
       {table}});
}

// ---- All of it

void add_findings(const std::vector<Standings>& all, Results& results) {
  for (const Standings& s : all) {
    const Standing& best = s.race.of(kDmala);
    const Measured m = best.log_mmd();
    results.findings.push_back(
        fmt::format("On the {} RBM DMALA is at log MMD {:.2f} after {} steps (standard deviation "
                    "{:.2f} over {} seeds); perfect samples are at {:.2f} on average. Gibbs-1 is "
                    "at {:.2f}, GWG-1 at {:.2f}.",
                    s.machine().name, m.mean, s.steps, m.sd, best.runs.size(), s.floor.mean,
                    s.race.of("Gibbs-1").log_mmd().mean, s.race.of("GWG-1").log_mmd().mean));
    results.findings.push_back(fmt::format(
        "There DMALA accepts {:.1f} % over all steps, and {:.2g} % without the step-size term.",
        100 * acceptance_of(best, 0, s.steps).mean,
        100 * acceptance_of(s.race.of(kWithout), 0, s.steps).mean));
  }
  results.findings.push_back(
      "The paper's -6.5 is the floor of the V-statistic, which every perfect sampler has. How near "
      "to it DMALA is after 5000 steps depends on the RBM and on the seed. Block Gibbs, which "
      "needs the hidden units, is there after some hundred steps: it is shown for reference and is "
      "not among the paper's samplers.");
}

std::vector<Machine> machines_for(Context& context, Rows<const Symbol> data, Results& results) {
  std::vector<Machine> machines;
  std::optional<Machine> published = published_machine(context.options().data);
  if (!published) {
    results.findings.push_back(
        "The data set rbm_reference is not in the data folder: only the RBM trained here is shown, "
        "and the comparison with the authors' code on one RBM is left out.");
  }
  if (!context.quick()) {
    machines.push_back(trained_machine(context, data, Effort{}));
  } else if (!published) {
    machines.push_back(trained_machine(context, data, {150, 1000}));
  }
  if (published) machines.push_back(std::move(*published));
  return machines;
}

}  // namespace

Results run_rbm(Context& context) {
  Results results;
  context.progress("reading MNIST");
  const DataSet mnist = load_mnist(context.options().data, Split::train);
  const std::vector<Machine> machines = machines_for(context, mnist.rows.view(), results);
  const std::uint64_t steps = machines[0].whole ? kSteps : kShortSteps;
  const std::vector<Race> races = run_races(context, machines, steps);
  std::vector<Standings> all;
  for (const Race& race : races) {
    all.push_back({race, floor_of(*race.machine, race.reference, context.seed(0)), steps});
  }
  add_findings(all, results);
  for (const Standings& s : all) add_distances(context, s, results);
  add_term(context, all, results);
  add_times(all, results);
  Section data{"The data", {"The first 100 images of MNIST, black and white."}};
  add_picture("data", "MNIST", mnist.rows.view(), data);
  if (!data.pictures.empty()) results.sections.insert(results.sections.begin(), std::move(data));
  return results;
}

}  // namespace saltus::reproduce
