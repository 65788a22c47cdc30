// Unordered classes: two sites of three classes, as in the example that the authors released with
// their code. U = M0[x0] - M1[x1]; beside it a coupled pair, where the sites depend on each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/chains.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/small/dula_law.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/potts.hpp"

namespace saltus::reproduce {
namespace {

constexpr int kStates = 9;
const std::vector<double> kAlphas = {0.1, 0.2, 0.5, 1};

Potts separable() {
  return Potts(Domain::categorical(2, 3), {0.3, -0.5, 1.1, -0.2, -0.9, 0.7}, {});
}

Potts coupled() {
  return Potts(Domain::categorical(2, 3), {0.3, -0.5, 1.1, -0.2, -0.9, 0.7},
               {{0, 1, {0.5, -0.3, 0.2, 0.1, 0.8, -0.6, -0.4, 0.3, 0.9}}});
}

Dlp dlp(const Potts& target, bool adjust, double alpha) {
  DlpOptions options;
  options.adjust = adjust;
  options.step_size = alpha;
  return Dlp(target.domain(), options);
}

// ---- How fast a kernel forgets

// The eigenvalues of a symmetric matrix, by Jacobi's rotations.
std::vector<double> eigenvalues(std::vector<std::vector<double>> m) {
  const std::size_t n = m.size();
  for (int sweep = 0; sweep < 50; ++sweep) {
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (std::abs(m[p][q]) < 1e-300) continue;
        const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1 / std::hypot(t, 1.0), s = t * c;
        const auto rotate = [c, s](double& x, double& y) {
          const double a = x, b = y;
          x = c * a - s * b;
          y = s * a + c * b;
        };
        for (std::size_t k = 0; k < n; ++k) rotate(m[k][p], m[k][q]);
        for (std::size_t k = 0; k < n; ++k) rotate(m[p][k], m[q][k]);
      }
    }
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = m[i][i];
  return values;
}

// The second largest eigenvalue in size of a kernel that is reversible with respect to `law`.
double second_eigenvalue(const Sampler& sampler, const StateTable& table,
                         std::span<const double> law) {
  RowBuffer<double> matrix(kStates, kStates);
  std::vector<double> acceptance(kStates);
  sampler.enumerable()->transition_matrix(table, {}, matrix.view(), acceptance);
  std::vector symmetric(kStates, std::vector<double>(kStates));
  for (std::size_t s = 0; s < kStates; ++s) {
    for (std::size_t y = 0; y < kStates; ++y) {
      symmetric[s][y] = std::sqrt(law[s] / law[y]) * matrix.view()[static_cast<int>(s)][y];
    }
  }
  std::vector<double> values = eigenvalues(symmetric);
  for (double& v : values) v = std::abs(v);
  std::sort(values.begin(), values.end());
  return values[kStates - 2];
}

// ---- Exact laws

std::vector<double> dula_law(const StateTable& table, double alpha) {
  return tilted(table.probability(), log_normalizers(table, 1 / alpha));
}

report::Table law_table(const Potts& target, const std::vector<double>& alphas) {
  const StateTable table(target);
  report::Table laws{"Exact laws of the separable model.", {"Classes", "Target"}};
  for (std::size_t s = 0; s < kStates; ++s) {
    laws.rows.push_back({fmt::format("{}{}", s / 3, s % 3)});
  }
  const auto add = [&](std::span<const double> law) {
    for (std::size_t s = 0; s < kStates; ++s) {
      laws.rows[s].push_back({law[s], fmt::format("{:.8f}", law[s])});
    }
  };
  add(table.probability());
  for (const double alpha : alphas) {
    laws.columns.push_back(fmt::format("DULA {:g}", alpha));
    add(dula_law(table, alpha));
  }
  return laws;
}

void exact_laws(Context& context, Results& results, Section& section) {
  const Potts plain = separable(), pair = coupled();
  Plot plot = labelled("Bias of DULA", "step size alpha", "l1 distance from the target",
                       "The exact bias on both models falls exponentially with the step size.");
  plot.log_x = plot.log_y = true;
  for (const auto& [name, target] : {std::pair("separable", &plain), std::pair("coupled", &pair)}) {
    const StateTable table(*target);
    for (const double alpha : context.alphas(kAlphas)) {
      const std::vector<double> law = dula_law(table, alpha);
      const Dlp dula = dlp(*target, false, alpha), dmala = dlp(*target, true, alpha);
      const Json setting = {{"model", name}, {"alpha", alpha}};
      const auto add = [&](const char* quantity, Json with, double value, const char* note) {
        with.update(setting);
        results.add(quantity, with, {value}, note);
      };
      add("l1_bias", {{"sampler", "dula"}},
          l1_of_tilt(table.probability(), log_normalizers(table, 1 / alpha)), "Exact.");
      add("acceptance", {{"sampler", "dmala"}}, check_transitions(dmala, table).acceptance,
          "Exact mean under the target.");
      add("second_eigenvalue", {{"sampler", "dula"}}, second_eigenvalue(dula, table, law),
          "The time to forget the start is 1 / (1 - it).");
      add("second_eigenvalue", {{"sampler", "dmala"}},
          second_eigenvalue(dmala, table, table.probability()), "");
    }
    Series series{name};
    for (int k = 0; k <= 40; ++k) {
      const double alpha = 0.05 * std::pow(100, k / 40.0);
      series.add(alpha, l1_of_tilt(table.probability(), log_normalizers(table, 1 / alpha)));
    }
    plot.series.push_back(series);
  }
  section.plots.push_back(plot);
  section.tables.push_back(law_table(plain, context.alphas(kAlphas)));
}

// ---- Frequencies

struct LevelKernel {
  const char* name;
  bool adjust;
  double alpha;
};

// Frequencies of the nine states along `chains` chains. One chain starts at a random state, as in
// the authors' example; several are brought into stationarity by bold exact steps before.
std::vector<double> frequencies(const Potts& target, const LevelKernel& kernel, int chains,
                                std::uint64_t steps, std::uint64_t seed) {
  std::vector<double> count(kStates);
  Ensemble ensemble(target, chains, std::min(chains, 16), 1, seed);
  ensemble.start_random();
  ensemble.evaluate();
  if (chains > 1) advance(ensemble, dlp(target, true, 1), 200);
  Visitor visitor([&](int, std::uint64_t, const Symbol* x, const StepInfo&) {
    ++count[static_cast<std::size_t>(3 * x[0] + x[1])];
  });
  ensemble.advance(dlp(target, kernel.adjust, kernel.alpha), steps, visitor);
  for (double& c : count) c /= static_cast<double>(steps) * chains;
  return count;
}

void add_frequencies(Context& context, Results& results, Section& section) {
  const Potts target = separable();
  const StateTable table(target);
  const auto steps = static_cast<std::uint64_t>(context.quick() ? 20'000 : 50'000);
  const int many = context.quick() ? 32 : 100;
  Plot plot = labelled(fmt::format("Frequencies along {} chains of {} steps", many, steps),
                       "classes of the two sites", "frequency",
                       "Both samplers against the target; error bars are one standard error.");
  plot.kind = Plot::Kind::bars;
  for (int s = 0; s < kStates; ++s) plot.categories.push_back(fmt::format("{}{}", s / 3, s % 3));
  const auto target_law = table.probability();
  plot.series.push_back({"target", {}, {target_law.begin(), target_law.end()}});
  for (const LevelKernel& kernel :
       {LevelKernel{"dmala", true, 0.2}, LevelKernel{"dula", false, 0.1}}) {
    for (const int chains : {1, many}) {
      const auto f = context.each_run(fmt::format("{}, {} chains", kernel.name, chains), 1,
                                      [&](std::size_t, std::uint64_t seed) {
                                        return frequencies(target, kernel, chains, steps, seed);
                                      })[0];
      results.add(
          "l1_of_frequencies",
          {{"sampler", kernel.name}, {"alpha", kernel.alpha}, {"chains", chains}, {"steps", steps}},
          over_runs(f, [&](const auto& law) { return l1(law, target_law); }),
          chains == 1 && !kernel.adjust ? "One chain of this length has not mixed: this is no bias."
                                        : "");
      if (chains == 1) continue;
      Series& series = plot.series.emplace_back(Series{kernel.name});
      for (std::size_t s = 0; s < kStates; ++s) {
        const Measured v = over_runs(f, [&](const auto& law) { return law[s]; });
        series.y.push_back(v.mean);
        series.low.push_back(v.mean - v.error.value_or(0));
        series.high.push_back(v.mean + v.error.value_or(0));
      }
    }
  }
  section.plots.push_back(plot);
}

}  // namespace

Results run_categorical(Context& context) {
  Results results;
  Section section{"Two sites of three classes"};
  section.text = {
      "log p = M0[x0] - M1[x1] with M0 = (0.3, -0.5, 1.1) and M1 = (0.2, 0.9, -0.7). The authors' "
      "example draws M anew at every run, without a seed; these are fixed, so that the exact "
      "answers are too. Classes are one-hot: a change has squared distance 2, and costs 1/alpha.",
      "DULA at step size 0.1 has a tiny bias, and mixes so slowly that one chain of 50,000 steps "
      "shows frequencies far from its own stationary law. Its distance from the target is then "
      "noise, not bias: see the second eigenvalues, and the frequencies along many chains that "
      "start in stationarity. The model 'coupled' adds a table of interactions between the sites."};
  exact_laws(context, results, section);
  add_frequencies(context, results, section);
  results.sections.push_back(std::move(section));
  results.findings = {
      "The paper has no numbers for classes; its released example compares frequencies with the "
      "target after 50,000 steps of one chain. That is too short for DULA at step size 0.1, whose "
      "exact bias is 4.5e-5."};
  return results;
}

}  // namespace saltus::reproduce
