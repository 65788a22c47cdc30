#include "reproduce/rbm/distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "saltus/io/images.hpp"

namespace saltus::reproduce {
namespace {

constexpr double kPaperLogMmd = -6.5;
constexpr const char* kBaselines[] = {"Gibbs-1", "HB-10-1", "GWG-1"};

// "DMALA reaches the lowest MMD (about -6.5) after 5,000 iterations."
const Printed kPaperLevel = {kPaperLogMmd, {}, 0.1};

void judge_level(const Race& race, const Measured& m, Row& row) {
  row.note = fmt::format(
      "The paper's value, about -6.5, is the floor of this statistic: what a perfect sampler has "
      "({:.2f} on average here, {:.2f} by the formula). Whether 5000 steps suffice to get there "
      "depends on the RBM and the seed.",
      race.floor.mean, race.floor.formula);
  if (!comparable(race)) return;
  row.paper = kPaperLogMmd;
  row.verdict = judge_number(m, kPaperLevel);
  if (!race.on_reference()) return;
  const AuthorsCode code;
  row.note += fmt::format(" The authors' code on this RBM: {} (sd {} over {} seeds).", code.log_mmd,
                          code.sd, code.runs);
}

// Against the authors' code on the same RBM, from the same states.
void add_authors_row(const Race& race, Results& results) {
  const AuthorsCode code;
  const Standing& s = race.of(kDmala);
  // A run has a standard deviation of 0.45: a few of them say nothing.
  if (!race.on_reference() || !comparable(race) || std::cmp_less(s.runs.size(), code.runs)) return;
  const Measured m = s.log_mmd();
  const double code_error = code.sd / std::sqrt(code.runs),
               error = std::hypot(*m.error, code_error), difference = m.mean - code.log_mmd;
  results.add("log_mmd_less_authors_code", with(race.setting(s), "authors_code", code.log_mmd),
              {difference, 0, error},
              fmt::format("Ours, {:.2f} with sd {:.2f} over {} seeds, less that of the authors' "
                          "code on the same RBM, {} with sd {} over {}.",
                          m.mean, m.sd, s.runs.size(), code.log_mmd, code.sd, code.runs),
              judge_number(m, {code.log_mmd, code_error, 0.01}), 0.0);
}

// "DULA and DMALA converge remarkably faster than baselines in both iterations and runtime", and
// "DMALA reaches the lowest MMD among all the methods". `difference` gives log MMD of one sampler
// less that of another, after the same number of steps or in the same time.
void judge_convergence(
    const std::function<Measured(const char* of, const char* less, bool in_time)>& difference,
    const Json& rbm, std::uint64_t steps, Results& results) {
  const auto setting = [&](const char* of, const char* less, bool in_time) {
    Json j = rbm;
    j["sampler"] = of;
    j["less"] = less;
    return with(j, "after", in_time ? Json("the time of DMALA") : Json(steps));
  };
  for (const bool in_time : {false, true}) {
    Statement faster{Sign::negative};
    for (const char* of : {kDmala, kDula}) {
      for (const char* other : kBaselines) {
        faster.add("log_mmd_difference", setting(of, other, in_time),
                   difference(of, other, in_time),
                   in_time ? "The paper: converges remarkably faster in runtime."
                           : "The paper: converges remarkably faster in iterations.");
      }
    }
    faster.judge(results);
    Statement lowest{Sign::negative};
    lowest.add("log_mmd_difference", setting(kDmala, kDula, in_time),
               difference(kDmala, kDula, in_time), "The paper: DMALA has the lowest MMD.");
    lowest.judge(results);
  }
}

// One RBM: over the seeds of chains.
void judge_race(const Race& race, Results& results) {
  judge_convergence([&](const char* of, const char* less,
                        bool in_time) { return race.difference(of, less, in_time); },
                    race.rbm(), race.steps, results);
}

constexpr const char* kAll = "all trained";

// The number of each RBM, a mean over the seeds of its chains: their mean and error are those over
// trainings.
template <class Of>
Measured over_trainings(const std::vector<const Race*>& races, Of of) {
  std::vector<double> means;
  for (const Race* race : races) means.push_back(of(*race).mean);
  return measured(means);
}

// The standard deviation of a run around its RBM's mean, from all of them.
double within_trainings(const std::vector<const Race*>& races, const std::string& sampler) {
  double sum = 0, degrees = 0;
  for (const Race* race : races) {
    const Measured m = race->of(sampler).log_mmd();
    sum += m.sd * m.sd * (m.runs - 1);
    degrees += m.runs - 1;
  }
  return degrees > 0 ? std::sqrt(sum / degrees) : 0;
}

void add_level_rows(const Race& race, Results& results) {
  for (const Standing& s : race.standings) {
    Row& row = results.add("log_mmd", race.setting(s), s.log_mmd(),
                           "The figure shows a curve without numbers.");
    if (s.entrant.name() == kDmala && race.alone) judge_level(race, s.log_mmd(), row);
    results.add("mmd_u_statistic", race.setting(s), over_runs(s.runs, &Course::u_statistic),
                "MMD^2 without its bias: 0 on average for perfect samples.");
  }
}

void add_floor_rows(const Race& race, Results& results) {
  const auto add = [&](const char* quantity, const char* by, double value, const char* note) {
    results.add(quantity, with(race.rbm(), "by", by), {value}, note);
  };
  const Floor& f = race.floor;
  add("log_mmd_floor", "formula", f.formula,
      "(1/100 + 1/500) (1 - E k), with E k from the reference samples.");
  add("log_mmd_floor", "second set", f.second_set,
      "The 100 samples of the model that are not in the reference set, against it.");
  add("log_mmd_floor", "re-splits", f.mean,
      "Mean over 50 random splits of the 600 samples into 500 and 100.");
  add("log_mmd_floor_sd", "re-splits", f.sd, "Of one split: how noisy the floor is.");
}

void add_start_row(Context& context, const Race& race, Results& results) {
  std::vector<double> values;
  const std::size_t runs = race.machine->start.view() ? 1 : context.seeds();
  for (std::size_t r = 0; r < runs; ++r) {
    const RowBuffer<Symbol> x = race.machine->start_states(context.seed(r));
    values.push_back(std::log(race.samples.squared(x.view()).v_statistic));
  }
  results.add("log_mmd_start", race.rbm(), measured(values),
              "Of the states that all chains start from.");
}

// Every second point, with a band of one standard deviation over seeds.
Series curve(const Standing& s, bool by_seconds) {
  Series series{s.entrant.name()};
  const double a_step = s.seconds_per_step().mean;
  const auto last = by_seconds ? s.runs[0].all_steps() : s.runs[0].steps();
  for (std::uint64_t step = 2 * kMmdEvery; step <= last;) {
    const auto n = static_cast<double>(step);
    const Measured m = over_runs(s.runs, [&](const Course& c) { return c.log_mmd_after(n); });
    series.add(by_seconds ? n * a_step : n, m.mean);
    if (m.error) add_band(m, series);
    step += step < s.runs[0].steps() ? 2 * kMmdEvery : std::max(kLateEvery, last / 200);
  }
  return series;
}

Plot mmd_plot(const Race& race, bool by_seconds) {
  Plot plot = labelled(fmt::format("The {} RBM: log MMD against {}", race.machine->name,
                                   by_seconds ? "time" : "steps"),
                       by_seconds ? "seconds of one core, 100 chains" : "steps", "log MMD",
                       by_seconds ? "The same against processor time. Samplers with cheaper steps "
                                    "make more of them, to take as long as DMALA."
                                  : "Mean over seeds, with bands of one standard deviation. The "
                                    "two lines are the floor, where perfect samples are.");
  plot.wide = true;
  plot.log_x = by_seconds;
  double from = INFINITY, to = 0;
  for (const Standing& s : race.standings) {
    if (std::isinf(s.entrant.alpha)) continue;
    plot.series.push_back(curve(s, by_seconds));
    from = std::min(from, plot.series.back().x.front());
    to = std::max(to, plot.series.back().x.back());
  }
  const Floor& f = race.floor;
  plot.series.push_back({"floor by the formula", {from, to}, {f.formula, f.formula}});
  plot.series.push_back({"second set", {from, to}, {f.second_set, f.second_set}});
  return plot;
}

void add_pictures(const Race& race, Section& section) {
  const std::string& rbm = race.machine->name;
  add_picture(rbm + "-samples", "reference samples", race.machine->reference(), section);
  for (const Standing& s : race.standings) {
    if (std::isinf(s.entrant.alpha)) continue;
    add_picture(rbm + "-" + s.entrant.sampler, s.entrant.name(), s.runs[0].last.view(), section);
  }
  section.pictures_caption = fmt::format(
      "Samples of the {} RBM, and the samplers' 100 chains after {} steps.", rbm, race.steps);
}

std::string about(const Race& race) {
  const Machine& machine = (*race.machine);
  const std::string origin =
      race.on_reference()
          ? "The RBM of the data set rbm_reference, trained by the code that the paper's authors "
            "published, with that code's samples and its 100 starting states."
          : fmt::format(
                "Trained here: 784 visible and 500 hidden units, CD-10, Adam with "
                "rate 0.001, batches of 100{}. Its 600 samples come from block-Gibbs chains; "
                "chains start from independent bits with the data's means.",
                machine.whole ? ", one epoch of MNIST" : ", shortened for --quick");
  return origin +
         fmt::format(" {} chains of {} steps. The first 500 samples are the reference set Y.",
                     Machine::kStart, race.steps);
}

}  // namespace

void add_trainings(const std::vector<const Race*>& races, Results& results) {
  const std::uint64_t steps = races[0]->steps;
  report::Table table{
      "Log MMD after all steps: mean over trainings, the standard deviation between RBMs (of their "
      "true means: the part that chains account for is taken off) and that between chains on one "
      "RBM.",
      {"Sampler", "Log MMD", "Between RBMs", "Between chains"}};
  judge_convergence(
      [&](const char* of, const char* less, bool in_time) {
        return over_trainings(races,
                              [&](const Race& r) { return r.difference(of, less, in_time); });
      },
      {{"rbm", kAll}}, steps, results);
  for (const char* sampler : {kDmala, kDula, "GWG-1", "HB-10-1", "Gibbs-1"}) {
    const Standing& first = races[0]->of(sampler);
    const auto level = [&](const Race& r) { return r.of(sampler).log_mmd(); };
    const Measured m = over_trainings(races, level);
    const double chains = within_trainings(races, sampler),
                 noise = chains / std::sqrt(static_cast<double>(first.runs.size())),
                 between = std::sqrt(std::max(0.0, m.sd * m.sd - noise * noise));
    const Json setting = with(first.entrant.setting({{"rbm", kAll}}), "steps", steps);
    Row& row = results.add("log_mmd", setting, m, "Mean and error over trainings.");
    if (sampler == kDmala) {
      row.paper = kPaperLogMmd;
      row.verdict = judge_number(m, kPaperLevel);
      row.note += " The paper's number, about -6.5, counts as that of one more RBM.";
    }
    results.add("log_mmd_sd_between_rbms", setting, {between},
                "Of the RBMs' means, less what chains account for.");
    results.add("log_mmd_sd_between_chains", setting, {chains}, "Of one run on one RBM.");
    table.rows.push_back({sampler,
                          Cell(m.mean, fmt::format("{:.2f} ± {:.2f}", m.mean, m.error.value_or(0))),
                          Cell(between, fmt::format("{:.2f}", between)),
                          Cell(chains, fmt::format("{:.2f}", chains))});
  }
  results.sections.insert(
      results.sections.begin(),
      {fmt::format("{} trainings", races.size()),
       {"The same training with other seeds gives other RBMs. A statement on RBMs is judged over "
        "these: their number is the number of runs. ± is the standard error over trainings."},
       {},
       {table}});
}

void add_picture(const std::string& file, const std::string& label, Rows<const Symbol> rows,
                 Section& section) {
  if (!can_write_png()) return;
  rows.rows = std::min(rows.rows, 100);
  section.pictures.push_back({file + ".png",
                              {png_grid(rows, {.height = 28, .width = 28}),
                               "a grid of 10 x 10 images of 28 x 28 pixels: " + label, label}});
}

void add_distances(Context& context, const Race& race, Results& results) {
  add_authors_row(race, results);
  if (race.alone) judge_race(race, results);
  add_level_rows(race, results);
  add_floor_rows(race, results);
  add_start_row(context, race, results);
  Section section{fmt::format("Samplers on the {} RBM", race.machine->name)};
  section.text = {
      about(race),
      fmt::format("Log MMD is the natural log of MMD^2 with the kernel exp(-(part of the pixels "
                  "that differ)), the V-statistic. It is not 0 for perfect samples but (1/100 + "
                  "1/500) (1 - E k) on average, a log of {:.2f} here, and noisy: random splits of "
                  "the samples have {:.2f} with a standard deviation of {:.2f}. A curve at this "
                  "floor cannot be told from perfect samples; below it is chance.",
                  race.floor.formula, race.floor.mean, race.floor.sd)};
  section.plots = {mmd_plot(race, false), mmd_plot(race, true)};
  if (race.machine->shown) add_pictures(race, section);
  results.sections.push_back(std::move(section));
}

}  // namespace saltus::reproduce
