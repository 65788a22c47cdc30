// How boldly samplers propose on the Ising model, in stationarity (Figure 2, left).
#include <fmt/format.h>

#include "reproduce/chains.hpp"
#include "reproduce/ising/exact.hpp"
#include "reproduce/ising/runs.hpp"

namespace saltus::reproduce::ising {
namespace {

using report::Plot;
using report::Series;

struct Boldness {
  double proposed = 0, acceptance = 0, changed = 0;
};

// Single steps from states of the target: a Gibbs sweep before each keeps the chains there, and
// makes the states nearly independent.
Boldness boldness(const Entrant& entrant, int chains, int steps, std::uint64_t seed) {
  const IsingLattice target(5, 5, true, kA, kB);
  const auto sampler = entrant.make(target),
             sweep = make_sampler("gibbs", target, {{"updates", "sweep"}});
  Ensemble ensemble(target, chains, chains, 1, seed);
  ensemble.start_random();
  ensemble.evaluate();
  advance(ensemble, *sweep, 100);
  Boldness sum;
  Visitor add([&](int, std::uint64_t, const Symbol*, const StepInfo& info) {
    sum.proposed += info.proposed;
    sum.acceptance += info.acceptance;
    sum.changed += info.changed;
  });
  for (int step = 0; step < steps; ++step) {
    advance(ensemble, *sweep, 1);
    ensemble.advance(*sampler, 1, add);
  }
  const double n = static_cast<double>(steps) * chains;
  return {sum.proposed / n, sum.acceptance / n, sum.changed / n};
}

// What the paper's text says of two of them.
void compare_boldness(const Entrant& entrant, Row& row) {
  struct Statement {
    const char *sampler, *quantity;
    double paper, tolerance;
    const char* note;
  };
  for (const Statement& s :
       {Statement{"DMALA 0.6", "proposed_changes", 6, 0.5,
                  "The paper: 6 coordinates. They are proposed; about half of them come about."},
        Statement{"DMALA 0.6", "acceptance", 0.52, 0.005,
                  "The paper: 52 %. Close, but more than its rounding."},
        Statement{"GWG-6", "acceptance", 0.43, 0.005,
                  "The paper: 43 %. Six sites drawn with replacement are 5.2 different ones on "
                  "average."}}) {
    if (entrant.name() != s.sampler || row.quantity != s.quantity) continue;
    row.paper = s.paper;
    row.verdict = agrees_if(std::abs(row.ours - s.paper) <= s.tolerance);
    row.note = s.note;
  }
}

}  // namespace

void add_boldness(Context& context, Results& results) {
  std::vector<Entrant> entrants;
  const std::vector<double> alphas = context.alphas({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2});
  for (const double alpha : alphas) entrants.push_back(dmala(alpha));
  for (const int flips : {1, 2, 4, 6}) entrants.push_back(gwg(flips));
  const int chains = 128;
  const int steps = context.quick() ? 1500 : 3000;
  const auto all = context.each_run("proposals and acceptance", entrants.size(),
                                    [&](std::size_t e, std::uint64_t seed) {
                                      return boldness(entrants[e], chains, steps, seed);
                                    });
  Plot plot{.title = "Bold and accepted",
            .x_label = "coordinates that a proposal changes",
            .y_label = "acceptance probability",
            .summary =
                "DMALA from small to large step sizes, and GWG with 1, 2, 4 and 6 flips: at the "
                "same boldness DMALA is accepted more often.",
            .y_from = 0,
            .y_to = 1};
  plot.series = {{"DMALA"}, {"GWG"}};
  for (std::size_t e = 0; e < entrants.size(); ++e) {
    const Json setting = entrants[e].setting();
    const auto add = [&](const char* quantity, double Boldness::*member) {
      Row& row = results.add(quantity, setting, over_runs(all[e], member));
      compare_boldness(entrants[e], row);
      return row.ours;
    };
    const double proposed = add("proposed_changes", &Boldness::proposed);
    plot.series[entrants[e].sampler == "gwg"].add(proposed,
                                                  add("acceptance", &Boldness::acceptance));
    add("accepted_changes", &Boldness::changed);
    if (std::isnan(entrants[e].alpha)) continue;
    results.add("proposed_changes_exact", setting,
                {ising_proposed_changes(kA, kB, entrants[e].alpha)}, "By transfer matrices.");
  }
  results.sections.push_back(
      {"Large moves that are accepted",
       {fmt::format("In stationarity: {} chains, {} steps of each, {} seeds.", chains, steps,
                    context.seeds())},
       {plot}});
}

}  // namespace saltus::reproduce::ising
