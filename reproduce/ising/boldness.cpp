// How boldly samplers propose on the Ising model, in stationarity (Figure 2, left).
#include <fmt/format.h>

#include "reproduce/chains.hpp"
#include "reproduce/ising/exact.hpp"
#include "reproduce/ising/runs.hpp"
#include "reproduce/measured.hpp"

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
  const auto sampler = make_sampler(entrant.sampler, target, entrant.settings),
             sweep = make_sampler("gibbs", target, {{"updates", "sweep"}});
  Ensemble ensemble(target, chains, chains, 1, seed);
  ensemble.start_random();
  ensemble.evaluate();
  Visitor nothing([](int, std::uint64_t, const Symbol*, const StepInfo&) {});
  ensemble.advance(*sweep, 100, nothing);
  Boldness sum;
  Visitor add([&](int, std::uint64_t, const Symbol*, const StepInfo& info) {
    sum.proposed += info.proposed;
    sum.acceptance += info.acceptance;
    sum.changed += info.changed;
  });
  for (int step = 0; step < steps; ++step) {
    ensemble.advance(*sweep, 1, nothing);
    ensemble.advance(*sampler, 1, add);
  }
  const double n = static_cast<double>(steps) * chains;
  return {sum.proposed / n, sum.acceptance / n, sum.changed / n};
}

// What the paper's text says of two of them.
void compare_boldness(const Entrant& entrant, Row& row) {
  const bool acceptance = row.quantity == "acceptance";
  if (entrant.label == "DMALA" && entrant.alpha == 0.6 && row.quantity == "proposed_changes") {
    row.paper = 6;
    row.verdict = std::abs(row.ours - 6) <= 0.5 ? Verdict::agrees : Verdict::differs;
    row.note = "The paper: 6 coordinates. They are proposed; about half of them come about.";
  } else if (entrant.label == "DMALA" && entrant.alpha == 0.6 && acceptance) {
    row.paper = 0.52;
    row.verdict = std::abs(row.ours - 0.52) <= 0.005 ? Verdict::agrees : Verdict::differs;
    row.note = "The paper: 52 %. Close, but more than its rounding.";
  } else if (entrant.label == "GWG-6" && acceptance) {
    row.paper = 0.43;
    row.verdict = std::abs(row.ours - 0.43) <= 0.005 ? Verdict::agrees : Verdict::differs;
    row.note =
        "The paper: 43 %. Six sites drawn with replacement are 5.2 different ones on average.";
  }
}

}  // namespace

void add_boldness(Context& context, Results& results) {
  std::vector<Entrant> entrants;
  const std::vector<double> alphas = context.alphas({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2});
  for (const double alpha : alphas) entrants.push_back(dmala(alpha));
  for (const int flips : {1, 2, 4, 6}) entrants.push_back(gwg(flips));
  const auto runs = static_cast<std::size_t>(context.seeds());
  const int chains = 128;
  const int steps = context.quick() ? 1500 : 3000;
  std::vector<Boldness> all(entrants.size() * runs);
  context.parallel("proposals and acceptance", static_cast<int>(all.size()), [&](int task) {
    const auto t = static_cast<std::size_t>(task);
    all[t] = boldness(entrants[t / runs], chains, steps, context.seed(static_cast<int>(t % runs)));
  });
  Plot plot{.title = "Bold and accepted",
            .x_label = "coordinates that a proposal changes",
            .y_label = "acceptance probability",
            .summary =
                "DMALA from small to large step sizes, and GWG with 1, 2, 4 and 6 flips: at the "
                "same boldness DMALA is accepted more often.",
            .y_from = 0,
            .y_to = 1};
  plot.series = {{"DMALA", {}, {}, {}, {}, {}}, {"GWG", {}, {}, {}, {}, {}}};
  for (std::size_t e = 0; e < entrants.size(); ++e) {
    const auto add = [&](const char* quantity, double Boldness::*member) {
      std::vector<double> values;
      for (std::size_t r = 0; r < runs; ++r) values.push_back(all[e * runs + r].*member);
      const Measured m = measured(values);
      Row row{quantity, entrants[e].setting(), {}, m.mean, m.error, Verdict::not_published, ""};
      compare_boldness(entrants[e], row);
      results.rows.push_back(row);
      return m.mean;
    };
    Series& series = plot.series[entrants[e].sampler == "gwg"];
    series.x.push_back(add("proposed_changes", &Boldness::proposed));
    series.y.push_back(add("acceptance", &Boldness::acceptance));
    add("accepted_changes", &Boldness::changed);
    if (std::isnan(entrants[e].alpha)) continue;
    results.rows.push_back({"proposed_changes_exact",
                            entrants[e].setting(),
                            {},
                            ising_proposed_changes(kA, kB, entrants[e].alpha),
                            {},
                            Verdict::not_published,
                            "By transfer matrices."});
  }
  results.sections.push_back(
      {"Large moves that are accepted",
       {fmt::format("In stationarity: {} chains, {} steps of each, {} seeds.", chains, steps,
                    runs)},
       {plot},
       {},
       {},
       ""});
}

}  // namespace saltus::reproduce::ising
