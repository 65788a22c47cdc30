// Sampling from a restricted Boltzmann machine of MNIST digits (Figure 4), and what the step-size
// term of the proposal is for (the ablation on the same model).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/data/data_folder.hpp"
#include "reproduce/rbm/distances.hpp"

namespace saltus::reproduce {
namespace {

constexpr std::uint64_t kShortSteps = 2000;
constexpr std::size_t kTrainings = 5;
constexpr double kPaperAcceptance = 0.51, kPaperWithoutTerm = 5e-5;
constexpr const char* kWithout = "DMALA without the term";

// What the code that the paper's authors published gives on the RBM of the set rbm_reference.
struct AuthorsEquilibrium {
  double alpha, acceptance, proposed;
};
constexpr AuthorsEquilibrium kAuthorsEquilibrium[] = {{0.1, 0.982, 1.18}, {0.15, 0.796, 5.93},
                                                      {0.2, 0.501, 12.8}, {0.3, 0.126, 26.3},
                                                      {0.4, 0.026, 36.7}, {INFINITY, 8e-12, NAN}};

// ---- The step-size term

Measured acceptance_of(const Standing& s, std::uint64_t from, std::uint64_t to) {
  return over_runs(s.runs, [&](const Course& c) { return Course::mean(c.acceptance, from, to); });
}

void judge_acceptance(const Race& race, const Standing& s, const Measured& m, Row& row) {
  if (s.entrant.name() == kDmala && comparable(race)) {
    row.paper = kPaperAcceptance;
    row.verdict = judge_number(m, {kPaperAcceptance, {}, 0.01});
    row.note = "The paper: 51 % on its own RBM.";
    if (race.on_reference()) {
      row.note += fmt::format(" The authors' code on this RBM: {}.", AuthorsCode{}.acceptance);
    }
  }
  if (s.entrant.name() != kWithout) return;
  if (comparable(race)) row.paper = kPaperWithoutTerm;
  if (comparable(race)) row.verdict = judge_number(m, {kPaperWithoutTerm, {}, 1e-5});
  row.note = fmt::format(
      "The paper: 0.005 %. The number belongs to no distribution: it falls as the chains approach "
      "the model ({:.2g} % over the first 100 steps, {:.2g} % after 1000), so that it depends on "
      "where and how long one looks. That hardly anything is accepted holds.",
      100 * acceptance_of(s, 0, 100).mean, 100 * acceptance_of(s, 1000, race.steps).mean);
}

void add_transient(const Race& race, Results& results) {
  for (const Standing& s : race.standings) {
    if (s.entrant.sampler != "dmala" && s.entrant.sampler != "gwg") continue;
    const auto over = [&](const char* steps) { return with(race.setting(s), "over", steps); };
    const Measured m = acceptance_of(s, 0, race.steps);
    judge_acceptance(race, s, m, results.add("acceptance", over("all steps"), m));
    results.add(
        "proposed_changes", over("all steps"),
        over_runs(s.runs, [&](const Course& c) { return Course::mean(c.proposed, 0, race.steps); }),
        "Of 784.");
    if (!std::isinf(s.entrant.alpha)) continue;
    results.add("acceptance", over("first 100 steps"), acceptance_of(s, 0, 100));
    results.add("acceptance", over("steps after 1000"), acceptance_of(s, 1000, race.steps));
  }
}

void add_equilibrium(const Race& race, double alpha, const Equilibrium& measured_here,
                     Results& results) {
  const Json setting = with(dmala(alpha).setting(race.rbm()), "over", "equilibrium");
  std::string code[2];
  for (const AuthorsEquilibrium& a : kAuthorsEquilibrium) {
    if (!race.on_reference() || a.alpha != alpha) continue;
    code[0] = fmt::format(" The authors' code: {:g}.", a.acceptance);
    if (a.proposed > 0) code[1] = fmt::format(" The authors' code: {:g}.", a.proposed);
  }
  const char* how = "Steps from the 600 samples with one seed; error over chains.";
  results.add("acceptance", setting, measured_here.acceptance, how + code[0]);
  results.add("proposed_changes", setting, measured_here.proposed, how + code[1]);
}

// Mean over seeds of the acceptance in stretches of 100 steps.
Series acceptance_curve(const Race& race, const Standing& s) {
  Series series{fmt::format("{}, {} RBM", s.entrant.name(), race.machine->name)};
  for (std::uint64_t step = 0; step + 100 <= race.steps; step += 100) {
    series.add(static_cast<double>(step) + 50, acceptance_of(s, step, step + 100).mean);
  }
  return series;
}

void add_term(Context& context, const std::vector<Race>& all, Results& results) {
  std::vector<double> alphas = context.alphas({0.1, 0.15, 0.2, 0.3, 0.4});
  alphas.push_back(INFINITY);
  const std::uint64_t steps = context.quick() ? 30 : 100;
  std::vector<Equilibrium> equilibria(all.size() * alphas.size());
  context.parallel("acceptance in equilibrium", equilibria.size(), [&](std::size_t t) {
    equilibria[t] = in_equilibrium(*all[t / alphas.size()].machine, alphas[t % alphas.size()],
                                   steps, context.seed(0));
  });
  Plot plot =
      labelled("Acceptance with and without the step-size term", "steps", "acceptance probability",
               "With it about half of the proposals are accepted throughout; without it next to "
               "none, and fewer as the chains approach the model.");
  plot.log_y = plot.wide = true;
  for (std::size_t k = 0; k < all.size(); ++k) {
    add_transient(all[k], results);
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      add_equilibrium(all[k], alphas[a], equilibria[k * alphas.size() + a], results);
    }
    for (const char* name : {kDmala, kWithout}) {
      if (!all[k].machine->shown) continue;
      plot.series.push_back(acceptance_curve(all[k], all[k].of(name)));
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

void add_costs(const Race& race, Results& results) {
  const auto of = [&](const std::string& label) -> const Standing& {
    return *std::ranges::find(race.standings, label,
                              [](const Standing& s) { return s.entrant.label; });
  };
  add_cost_claims(
      [&](const std::string& a, const std::string& b) {
        return over_pairs(of(a).runs, of(b).runs, [](const Course& x, const Course& y) {
          return x.seconds_per_step() / y.seconds_per_step();
        });
      },
      race.rbm(), results);
}

void add_times(const std::vector<Race>& all, Results& results) {
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
  for (const Race& race : all) {
    const Machine& machine = *race.machine;
    if (machine.training_seconds > 0) {
      add("training", with(race.rbm(), "for", "training"), {machine.training_seconds},
          "Of the clock, on all threads.");
      add("reference samples", with(race.rbm(), "for", "reference samples"),
          {machine.sampling_seconds},
          "Of the clock, on all threads: block-Gibbs sweeps of 600 chains.");
    }
    for (const Standing& standing : race.standings) {
      add(fmt::format("{} steps of {}", race.steps, standing.entrant.name()),
          race.setting(standing), standing.seconds(), "Of one core, for 100 chains.");
    }
    add_costs(race, results);
  }
  results.sections.push_back(
      {"Time",
       {"The paper's times are those of PyTorch on an unnamed GPU, and do not carry over."},
       {},
       {table}});
}

void add_findings(const std::vector<Race>& all, Results& results) {
  for (const Race& race : all) {
    if (!race.machine->shown) continue;
    const Standing& best = race.of(kDmala);
    const Measured m = best.log_mmd();
    results.findings.push_back(
        fmt::format("On the {} RBM DMALA is at log MMD {:.2f} after {} steps (standard deviation "
                    "{:.2f} over {} seeds); perfect samples are at {:.2f} on average. Gibbs-1 is "
                    "at {:.2f}, GWG-1 at {:.2f}, DULA at {:.2f}.",
                    race.machine->name, m.mean, race.steps, m.sd, best.runs.size(), race.floor.mean,
                    race.of("Gibbs-1").log_mmd().mean, race.of("GWG-1").log_mmd().mean,
                    race.of(kDula).log_mmd().mean));
    results.findings.push_back(fmt::format(
        "There DMALA accepts {:.1f} % over all steps, and {:.2g} % without the step-size term.",
        100 * acceptance_of(best, 0, race.steps).mean,
        100 * acceptance_of(race.of(kWithout), 0, race.steps).mean));
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
  for (std::size_t k = 0; !context.quick() && k < kTrainings; ++k) {
    Machine& machine =
        machines.emplace_back(trained_machine(context, data, Effort{}, context.seed(k)));
    machine.name = fmt::format("trained {}", context.seed(k));
    machine.shown = k == 0;
  }
  if (context.quick() && !published) {
    machines.push_back(trained_machine(context, data, {150, 1000}, context.seed(0)));
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
  const std::uint64_t steps = machines[0].whole ? kPaperSteps : kShortSteps;
  std::vector<Race> all = run_races(context, machines, steps);
  std::vector<const Race*> trained;
  for (Race& race : all) {
    race.alone = context.quick() || race.on_reference();
    if (!race.alone) trained.push_back(&race);
  }
  add_findings(all, results);
  for (const Race& race : all) add_distances(context, race, results);
  if (!trained.empty()) add_trainings(trained, results);
  add_term(context, all, results);
  add_times(all, results);
  Section data{"The data", {"The first 100 images of MNIST, black and white."}};
  add_picture("data", "MNIST", mnist.rows.view(), data);
  if (!data.pictures.empty()) results.sections.insert(results.sections.begin(), std::move(data));
  return results;
}

}  // namespace saltus::reproduce
