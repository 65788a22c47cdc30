// Learning the couplings of an Ising lattice from samples of it (Figure 5).
//
// The truth is log p(s) = s'Js with J = 0.25 A, A the adjacency matrix of a torus. A dense G, of
// which nothing is known, learns by persistent contrastive divergence; J is (G + G')/2, and its
// error the root of the mean over all entries of (J - truth)^2, natural log.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reproduce/chains.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/measured.hpp"
#include "saltus/core/error.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus::reproduce {
namespace {

using report::Plot;
using report::Series;

constexpr double kCoupling = 0.25, kPenalty = 0.01, kRate = 1e-3, kDeviation = 0.01;
constexpr double kReached = -5.0;   // what the paper's DMALA and DULA come to
constexpr double kCodeAlpha = 0.2;  // of DMALA in the released code
constexpr double kPaperSeconds = 800, kPaperRivalSeconds = 1400;
constexpr std::uint64_t kSweeps = 1600;              // of the data: 1,000,000 updates of 625 sites
constexpr std::uint64_t kDataSeeds = 1'000'000'000;  // the data's chains are not the learner's

// How large everything is.
struct Scale {
  int side, samples, batch, chains;
  std::uint64_t steps;       // of the sampler in an iteration
  std::uint64_t iterations;  // of the comparison, and of the one by numbers of steps
  std::uint64_t short_iterations;
  std::uint64_t gibbs_iterations;  // they cost less
  std::uint64_t every;             // iterations between two points of a curve
  std::vector<std::uint64_t> numbers_of_steps;
};

Scale full_scale() {
  return {25, 2000, 256, 256, 100, 10'000, 2000, 20'000, 20, {5, 10, 25, 50, 100}};
}
Scale quick_scale() {
  return {10, 1000, 128, 128, 20, 1200, 600, 2400, 20, {2, 5, 20}};
}

struct Entrant {
  std::string label, sampler;
  double alpha = NAN;  // where it has a step size

  std::string name() const {
    return std::isnan(alpha) ? label : fmt::format("{} {:g}", label, alpha);
  }
  Json setting() const {
    Json j = {{"sampler", label}};
    if (!std::isnan(alpha)) j["alpha"] = alpha;
    return j;
  }
  bool gradient() const { return label == "DMALA" || label == "DULA"; }
};

const Entrant kDmala{"DMALA", "dmala", 0.15}, kDula{"DULA", "dula", 0.1}, kGwg{"GWG-1", "gwg"},
    kGibbs{"Gibbs-1", "gibbs"};

// One step of Gibbs-1 draws one site; they are drawn together, which is the same chain.
std::unique_ptr<Sampler> sampler_of(const Entrant& entrant, const Target& target,
                                    std::uint64_t steps) {
  Settings settings;
  if (entrant.gradient()) settings = {{"step_size", fmt::format("{:g}", entrant.alpha)}};
  if (entrant.sampler == "gibbs") {
    settings = {{"scan", "systematic"}, {"updates", fmt::format("{}", steps)}};
  }
  return make_sampler(entrant.sampler, target, settings);
}

// ---- The truth and its samples

IsingLattice lattice(const Scale& scale) {
  return IsingLattice(scale.side, scale.side, true, kCoupling, 0);
}

// The same law as a list of couplings, which draws many chains side by side.
std::unique_ptr<Quadratic> graph(const Scale& scale) {
  const IsingLattice truth = lattice(scale);
  std::array<std::int32_t, 4> room;
  std::vector<Coupling> couplings;
  for (int i = 0; i < truth.domain().dim(); ++i) {
    for (const std::int32_t j : truth.neighbours(i, room.data())) {
      if (i < j) couplings.push_back({i, j, 2 * kCoupling});  // J_ij and J_ji
    }
  }
  return make_ising(truth.domain().dim(), couplings, {});
}

// Samples of the truth: each a chain of its own, from fair coins, by single-site Gibbs updates in
// the order of the sites.
RowBuffer<Symbol> draw_data(Context& context, const Scale& scale, std::uint64_t seed) {
  const std::unique_ptr<Quadratic> truth = graph(scale);
  const auto sweep = make_sampler("gibbs", *truth, {{"scan", "systematic"}, {"updates", "sweep"}});
  Ensemble ensemble(*truth, scale.samples, 16, context.options().threads, kDataSeeds + seed);
  ensemble.start_random();
  ensemble.evaluate();
  Visitor nothing([](int, std::uint64_t, const Symbol*, const StepInfo&) {});
  constexpr std::uint64_t kPart = 20;
  for (std::uint64_t done = 0; done < kSweeps; done += kPart) {
    context.progress(fmt::format("drawing data, sweep {} of {}", done, kSweeps));
    ensemble.advance(*sweep, kPart, nothing);
  }
  RowBuffer<Symbol> data(scale.samples, truth->domain().dim());
  for (int r = 0; r < scale.samples; ++r) {
    std::copy_n(ensemble.state(r), truth->domain().dim(), data.view()[r]);
  }
  return data;
}

// Mean over samples and edges of the product of two neighbours.
double mean_product(const Scale& scale, Rows<const Symbol> data) {
  const IsingLattice truth = lattice(scale);
  std::vector<double> pairs(static_cast<std::size_t>(data.rows));
  Scratch scratch;
  truth.evaluate({0, 0, scratch}, data, pairs.data(), {});
  return measured(pairs).mean / (2 * kCoupling) / (2 * truth.domain().dim());
}

// How far couplings G are from the truth.
struct Distance {
  double log_rmse = 0;
  double on_edges = 0;   // mean coupling of neighbours
  double elsewhere = 0;  // root mean square of all others
};

class Truth {
 public:
  explicit Truth(const Scale& scale) : spins_(static_cast<std::size_t>(scale.side * scale.side)) {
    const IsingLattice target = lattice(scale);
    std::array<std::int32_t, 4> room;
    couplings_.resize(spins_ * spins_);
    for (std::size_t i = 0; i < spins_; ++i) {
      for (const std::int32_t j : target.neighbours(static_cast<int>(i), room.data())) {
        couplings_[i * spins_ + static_cast<std::size_t>(j)] = kCoupling;
      }
    }
  }
  // TrainableIsing keeps G symmetric: it is J.
  Distance to(std::span<const float> g) const {
    double edges = 0, edge_errors = 0, others = 0, count = 0;
    for (std::size_t e = 0; e < g.size(); ++e) {
      const double value = double{g[e]};
      if (couplings_[e] > 0) {
        edges += value;
        edge_errors += (value - couplings_[e]) * (value - couplings_[e]);
        ++count;
      } else {
        others += value * value;
      }
    }
    const auto n = static_cast<double>(g.size());
    return {std::log((edge_errors + others) / n) / 2, edges / count,
            std::sqrt(others / (n - count))};
  }
  double log_rmse_of_zero() const { return to(std::vector<float>(couplings_.size())).log_rmse; }

 private:
  std::size_t spins_;
  std::vector<double> couplings_;
};

// ---- One run of learning

struct Curve {
  std::vector<double> iterations, seconds, log_rmse;  // the start first
  double acceptance = 0, proposed = 0;                // means over all steps
  Distance last;
  std::string failure;  // why it ended early, if it did

  std::size_t least() const {
    return static_cast<std::size_t>(std::min_element(log_rmse.begin(), log_rmse.end()) -
                                    log_rmse.begin());
  }
  // True when the error grew again, by more than it wavers.
  bool turned() const { return log_rmse.back() > log_rmse[least()] + 0.05; }
  std::string turn_text() const {
    return fmt::format("Its error was least, {:.2f}, after {:g} iterations, and grew from there.",
                       log_rmse[least()], iterations[least()]);
  }
  // When it first was at a value, in `unit`; NaN: never.
  double first_at(double value, const std::vector<double>& unit) const {
    for (std::size_t k = 0; k < log_rmse.size(); ++k) {
      if (log_rmse[k] <= value) return unit[k];
    }
    return NAN;
  }
  // The least error up to a moment.
  double best_until(double moment, const std::vector<double>& unit) const {
    double least = log_rmse[0];
    for (std::size_t k = 0; k < unit.size() && unit[k] <= moment; ++k) {
      least = std::min(least, log_rmse[k]);
    }
    return least;
  }
};

// What every run on the same data shares.
struct Lesson {
  const Scale& scale;
  const Truth& truth;
  Rows<const Symbol> data;
  std::uint64_t seed;
};

Curve learn(Context& context, const Lesson& lesson, const Entrant& entrant, std::uint64_t steps,
            std::uint64_t iterations) {
  const Scale& scale = lesson.scale;
  TrainableIsing model(scale.side * scale.side, false, {kDeviation, lesson.seed});
  LearningPlan plan;
  plan.batch = scale.batch;
  plan.drop_last = true;
  plan.chains = scale.chains;
  plan.steps = entrant.sampler == "gibbs" ? 1 : steps;
  plan.l1 = kPenalty;
  plan.adam.rate = kRate;
  plan.seed = lesson.seed;
  plan.threads = context.options().threads;
  ContrastiveDivergence learner(model, lesson.data, sampler_of(entrant, model.target(), steps),
                                plan);
  Curve curve;
  double seconds = 0;  // without the measuring
  const auto measure = [&] {
    curve.last = lesson.truth.to(model.couplings());
    curve.iterations.push_back(static_cast<double>(learner.iteration()));
    curve.seconds.push_back(seconds);
    curve.log_rmse.push_back(curve.last.log_rmse);
    context.progress(fmt::format("{}, {} steps, iteration {} of {}: log RMSE {:.2f}",
                                 entrant.name(), steps, learner.iteration(), iterations,
                                 curve.last.log_rmse));
  };
  measure();
  try {
    while (learner.iteration() < iterations) {
      const LearningInfo info = learner.step();
      seconds += info.sampling_seconds + info.gradient_seconds + info.update_seconds;
      curve.acceptance += info.acceptance;
      curve.proposed += info.proposed;
      if (learner.iteration() % scale.every == 0) measure();
    }
  } catch (const DataError& failure) {
    curve.failure = failure.what();
  }
  const auto done = static_cast<double>(std::max<std::uint64_t>(1, learner.iteration()));
  curve.acceptance /= done;
  curve.proposed /= done;
  return curve;
}

// ---- The comparison: error against iterations and against seconds

struct Standing {
  Entrant entrant;
  std::vector<Curve> runs;  // by seed

  template <class Of>
  Measured over_runs(Of of) const {
    std::vector<double> values;
    for (const Curve& run : runs) values.push_back(of(run));
    return measured(values);
  }
};

// The note of rows that a small version has beside the paper's.
constexpr const char* kQuickNote =
    "Quick version: a smaller lattice, which the paper does not have.";

void add_row(Results& results, const std::string& quantity, Json setting, const Measured& m,
             std::string note = "") {
  results.rows.push_back(
      {quantity, std::move(setting), {}, m.mean, m.error, Verdict::not_published, std::move(note)});
}

void add_lines(const Standing& s, std::uint64_t steps, Results& results) {
  Json setting = s.entrant.setting();
  setting["steps"] = steps;
  add_row(results, "acceptance", setting, s.over_runs([](const Curve& c) { return c.acceptance; }));
  add_row(
      results, "proposed_changes", setting, s.over_runs([](const Curve& c) { return c.proposed; }),
      s.entrant.sampler == "gibbs" ? "Of all steps of an iteration: sites that were drawn." : "");
  add_row(results, "milliseconds_per_iteration", setting,
          s.over_runs([](const Curve& c) { return 1e3 * c.seconds.back() / c.iterations.back(); }));
  add_row(results, "coupling_of_neighbours", setting,
          s.over_runs([](const Curve& c) { return c.last.on_edges; }),
          "The truth is 0.25; the l1 penalty pulls towards 0.");
  add_row(results, "coupling_of_others", setting,
          s.over_runs([](const Curve& c) { return c.last.elsewhere; }),
          "Root mean square; the truth is 0.");
}

// "DMALA and DULA reach -5.0": where ours end, and when they first were there.
void judge_reaching(const Standing& s, const Scale& scale, bool quick, Results& results) {
  Json setting = s.entrant.setting();
  setting["steps"] = scale.steps;
  setting["iterations"] = static_cast<std::uint64_t>(s.runs[0].iterations.back());
  const Measured end = s.over_runs([](const Curve& c) { return c.log_rmse.back(); });
  Row row{"log_rmse", setting, {}, end.mean, end.error, Verdict::not_published, s.runs[0].failure};
  const bool published = s.entrant.name() == kDmala.name() || s.entrant.label == "DULA";
  if (published && !quick) {
    row.paper = kReached;
    row.verdict = end.mean <= kReached ? Verdict::agrees : Verdict::differs;
    row.note = end.mean <= kReached ? "The paper: reaches -5.0."
                                    : "The paper: reaches -5.0. Not in these iterations.";
  } else if (quick) {
    row.note = kQuickNote;
  } else if (s.runs[0].turned()) {
    row.note = s.runs[0].turn_text();
  } else if (s.entrant.alpha == kCodeAlpha) {
    row.note = "The step size of the released code; the paper's appendix has 0.15.";
  }
  results.rows.push_back(row);
  if (quick) return;
  const Measured when = s.over_runs([](const Curve& c) { return c.first_at(kReached, c.seconds); });
  if (std::isnan(when.mean)) return;
  Json reached = s.entrant.setting();
  reached["log_rmse"] = kReached;
  results.rows.push_back(
      {"seconds_until", reached, published ? std::optional(kPaperSeconds) : std::nullopt, when.mean,
       when.error, Verdict::not_published,
       published ? "The paper: 800 s, of PyTorch on an unnamed GPU; times do not carry over."
                 : ""});
  add_row(results, "iterations_until", reached,
          s.over_runs([](const Curve& c) { return c.first_at(kReached, c.iterations); }));
}

// "The baselines do not reach it in 1,400 s", which is 1.75 times as long as DMALA took.
void judge_rivals(const std::vector<Standing>& all, Results& results) {
  const Standing& best = all[0];
  const Measured when =
      best.over_runs([](const Curve& c) { return c.first_at(kReached, c.seconds); });
  if (std::isnan(when.mean)) return;
  const double until = when.mean * kPaperRivalSeconds / kPaperSeconds;
  for (const Standing& s : all) {
    if (s.entrant.gradient()) continue;
    const Measured m = s.over_runs([&](const Curve& c) { return c.best_until(until, c.seconds); });
    const Measured ran = s.over_runs([](const Curve& c) { return c.seconds.back(); });
    const bool behind = m.mean > kReached;
    Json setting = s.entrant.setting();
    setting["seconds"] = static_cast<std::uint64_t>(std::round(until));
    std::string note = fmt::format(
        "The paper: not at -5.0 after 1.75 times the time of DMALA, here {:.0f} s.", until);
    if (ran.mean < until) note += fmt::format(" It ran for {:.0f} s only.", ran.mean);
    if (!behind) note += " It is there here: single changes keep up with the model as it learns.";
    results.rows.push_back({"least_log_rmse_in_time",
                            setting,
                            {},
                            m.mean,
                            m.error,
                            behind ? Verdict::agrees : Verdict::differs,
                            note});
  }
}

Series reference(const std::string& name, double from, double to, double value) {
  return {name, {from, to}, {value, value}, {}, {}, {}};
}

// The first run of each; every point at least a fiftieth beyond the one before.
Plot error_plot(const std::vector<Standing>& all, const Truth& truth, bool by_seconds) {
  Plot plot{.title = by_seconds ? "Error against time" : "Error against iterations",
            .x_label = by_seconds ? "seconds of learning" : "iterations",
            .y_label = "log RMSE of the couplings",
            .summary = by_seconds ? "The same runs against the time that they took on this machine."
                                  : "The first seed. Couplings that are all 0 are the upper line.",
            .wide = true};
  double last = 0;
  for (const Standing& s : all) {
    const Curve& c = s.runs[0];
    const std::vector<double>& x = by_seconds ? c.seconds : c.iterations;
    last = std::max(last, x.back());
    Series series{s.entrant.name(), {}, {}, {}, {}, {}};
    for (const std::size_t k : report::evenly_spread(x.size(), 250)) {
      series.x.push_back(x[k]);
      series.y.push_back(c.log_rmse[k]);
    }
    plot.series.push_back(series);
  }
  plot.series.push_back(reference("all couplings 0", 0, last, truth.log_rmse_of_zero()));
  return plot;
}

// ---- Error against the sampler's steps in an iteration

// Errors after scale.short_iterations: by entrant, number of steps and seed.
struct BySteps {
  std::vector<Entrant> entrants{kDmala, kDula, kGwg, kGibbs};
  std::vector<std::vector<std::vector<Curve>>> curves;
};

// "Gibbs-1 diverges with less than 100 steps": from some iteration on its error grows.
void judge_divergence(const Curve& first, std::uint64_t steps, Row& row) {
  if (steps >= 100) return;
  const bool diverges = !first.failure.empty() || first.turned();
  row.verdict = diverges ? Verdict::agrees : Verdict::differs;
  row.note = "The paper: diverges with less than 100 steps. ";
  row.note += first.turned() ? first.turn_text() : "Its error does not grow here.";
}

void add_by_steps(const BySteps& all, const Scale& scale, const Truth& truth, bool quick,
                  Results& results) {
  const auto iterations = static_cast<double>(scale.short_iterations);
  Plot plot{.title = "Error against steps of the sampler",
            .x_label = "steps in an iteration",
            .y_label = fmt::format("log RMSE after {} iterations", scale.short_iterations),
            .log_x = true,
            .summary = "The fewer steps, the less the chains keep up with the model that learns.",
            .wide = true};
  for (std::size_t e = 0; e < all.entrants.size(); ++e) {
    Series series{all.entrants[e].name(), {}, {}, {}, {}, {}};
    for (std::size_t k = 0; k < scale.numbers_of_steps.size(); ++k) {
      const std::vector<Curve>& runs = all.curves[e][k];
      std::vector<double> values;
      for (const Curve& c : runs) {
        std::size_t at = 0;
        while (at + 1 < c.iterations.size() && c.iterations[at] < iterations) ++at;
        values.push_back(c.log_rmse[at]);
      }
      const Measured m = measured(values);
      Json setting = all.entrants[e].setting();
      setting["steps"] = scale.numbers_of_steps[k];
      setting["iterations"] = scale.short_iterations;
      Row row{"log_rmse", setting, {}, m.mean, m.error, Verdict::not_published, runs[0].failure};
      if (quick) row.note = kQuickNote;
      if (all.entrants[e].sampler == "gibbs" && !quick) {
        judge_divergence(runs[0], scale.numbers_of_steps[k], row);
      }
      results.rows.push_back(row);
      series.x.push_back(static_cast<double>(scale.numbers_of_steps[k]));
      series.y.push_back(m.mean);
    }
    plot.series.push_back(series);
  }
  const auto& steps = scale.numbers_of_steps;
  plot.series.push_back(reference("all couplings 0", static_cast<double>(steps.front()),
                                  static_cast<double>(steps.back()), truth.log_rmse_of_zero()));
  results.sections.push_back(
      {"How many steps in an iteration",
       {fmt::format("The paper gives no number of iterations for this figure, and its points only "
                    "as a range from 5 to 100 steps: here all runs have {} iterations.",
                    scale.short_iterations)},
       {plot},
       {},
       {},
       ""});
}

// ---- All runs

// DMALA as in the paper's appendix comes first, then with other step sizes.
std::vector<Standing> entrants(const std::vector<double>& further_alphas) {
  std::vector<Standing> all = {{kDmala, {}}};
  for (const double alpha : further_alphas) {
    if (alpha != kDmala.alpha) all.push_back({{"DMALA", "dmala", alpha}, {}});
  }
  for (const Entrant& entrant : {kDula, kGwg, kGibbs}) all.push_back({entrant, {}});
  return all;
}

const Standing& find(const std::vector<Standing>& all, const Entrant& entrant) {
  return *std::find_if(all.begin(), all.end(),
                       [&](const Standing& s) { return s.entrant.name() == entrant.name(); });
}

void add_section(const Scale& scale, const std::vector<Standing>& all, const Truth& truth,
                 bool quick, int seeds, Results& results) {
  Section section{"Learning the couplings", {}, {}, {}, {}, ""};
  const int n = scale.side * scale.side;
  if (quick) {
    section.text.push_back(fmt::format(
        "This is the quick version, on a lattice of {0} x {0} sites, smaller in all its numbers; "
        "its errors are not the paper's, which belong to 25 x 25 sites.",
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
      "With all couplings 0 the log RMSE is {:.3f}, at the start {:.3f}. Seconds are those of "
      "learning, without the measuring; the paper's are of PyTorch on an unnamed GPU.",
      truth.log_rmse_of_zero(), all[0].runs[0].log_rmse[0]));
  section.plots = {error_plot(all, truth, false), error_plot(all, truth, true)};
  results.sections.push_back(std::move(section));
}

void add_findings(const std::vector<Standing>& all, const Scale& scale, Results& results) {
  std::string ends, times;
  const auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const Standing& s : all) {
    const auto at = [&](auto of) { return s.over_runs(of).mean; };
    append(ends, fmt::format("{} {:.2f} after {:g} iterations", s.entrant.name(),
                             at([](const Curve& c) { return c.log_rmse.back(); }),
                             s.runs[0].iterations.back()));
    const double seconds = at([](const Curve& c) { return c.first_at(kReached, c.seconds); });
    if (std::isnan(seconds)) continue;
    append(times, fmt::format("{} after {:.0f} iterations and {:.0f} s", s.entrant.name(),
                              at([](const Curve& c) { return c.first_at(kReached, c.iterations); }),
                              seconds));
  }
  results.findings.push_back(
      fmt::format("Log RMSE of the couplings of the {0} x {0} lattice: {1}.", scale.side, ends));
  if (!times.empty()) {
    results.findings.push_back(fmt::format("A log RMSE of {} is reached by {}.", kReached, times));
  }
}

void add_references(const Truth& truth, const Curve& any, std::span<const double> products,
                    Results& results) {
  add_row(results, "product_of_neighbours", {{"of", "the data"}}, measured(products),
          "0.87278 on an infinite lattice in equilibrium, by Onsager's solution.");
  results.rows.push_back({"log_rmse",
                          {{"couplings", "all 0"}},
                          {},
                          truth.log_rmse_of_zero(),
                          {},
                          Verdict::not_published,
                          "Exact: ln(0.25 sqrt(4 / sites))."});
  results.rows.push_back({"log_rmse",
                          {{"couplings", "at the start"}},
                          {},
                          any.log_rmse[0],
                          {},
                          Verdict::not_published,
                          ""});
}

}  // namespace

Results run_ising_learning(Context& context) {
  const Scale scale = context.quick() ? quick_scale() : full_scale();
  const Truth truth(scale);
  std::vector<Standing> all = entrants(context.alphas({kCodeAlpha}));
  std::vector<double> products;
  BySteps by_steps;
  by_steps.curves.assign(by_steps.entrants.size(),
                         std::vector<std::vector<Curve>>(scale.numbers_of_steps.size()));
  for (int run = 0; run < context.seeds(); ++run) {
    const RowBuffer<Symbol> data = draw_data(context, scale, context.seed(run));
    products.push_back(mean_product(scale, data.view()));
    const Lesson lesson{scale, truth, data.view(), context.seed(run)};
    for (Standing& s : all) {
      s.runs.push_back(
          learn(context, lesson, s.entrant, scale.steps,
                s.entrant.sampler == "gibbs" ? scale.gibbs_iterations : scale.iterations));
    }
    for (std::size_t e = 0; e < by_steps.entrants.size(); ++e) {
      for (std::size_t k = 0; k < scale.numbers_of_steps.size(); ++k) {
        const std::uint64_t steps = scale.numbers_of_steps[k];
        by_steps.curves[e][k].push_back(
            steps == scale.steps
                ? find(all, by_steps.entrants[e]).runs.back()
                : learn(context, lesson, by_steps.entrants[e], steps, scale.short_iterations));
      }
    }
  }
  Results results;
  add_findings(all, scale, results);
  add_references(truth, all[0].runs[0], products, results);
  for (const Standing& s : all) judge_reaching(s, scale, context.quick(), results);
  if (!context.quick()) judge_rivals(all, results);
  for (const Standing& s : all) add_lines(s, scale.steps, results);
  add_section(scale, all, truth, context.quick(), context.seeds(), results);
  add_by_steps(by_steps, scale, truth, context.quick(), results);
  return results;
}

}  // namespace saltus::reproduce
