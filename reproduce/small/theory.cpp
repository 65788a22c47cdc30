// The bias of DULA and the paper's three theorems, in exact arithmetic (Figure 1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/scalar_math.hpp"
#include "reproduce/chains.hpp"
#include "reproduce/experiment.hpp"
#include "reproduce/small/dula_law.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus::reproduce {
namespace {

// ---- Theorem 1

// How states are coded decides what a step size means: a flip has squared distance 1 on {0, 1} and
// 4 on {-1, 1}, and the eigenvalues of W differ by the same factor.
struct Coding {
  const char* name;
  DlpOptions::Distance distance;
  double flip;        // squared distance of a flip
  double lambda_min;  // smallest eigenvalue of W, for the 2 x 2 model with coupling 0.1
};
constexpr Coding kBits = {"{0,1}", DlpOptions::Distance::index, 1, -0.8};
constexpr Coding kSpins = {"{-1,1}", DlpOptions::Distance::value, 4, -0.2};

// Z exp(-delta^2 (1 / (2 alpha) + lambda_min / 2)); the paper prints it with delta = 1.
double printed_bound(double log_z, double alpha, double lambda_min, double distance) {
  return std::exp(log_z - distance * (1 / (2 * alpha) + lambda_min / 2));
}

// 2 ((sum sqrt pi)^2 - 1) exp(-delta^2 (1 / (2 alpha) + lambda_min / 2)): holds for every shift of
// log p, as long as 1 + alpha lambda_min >= 0.
double corrected_bound(double roots, double alpha, double lambda_min, double distance) {
  return 2 * (roots * roots - 1) * std::exp(-distance * (1 / (2 * alpha) + lambda_min / 2));
}

struct Bias {
  double alpha = 0, l1 = 0, from_matrix = 0, printed = 0, corrected = 0;
  bool applies = true;  // the corrected bound, and the paper's proof
};

// The 2 x 2 Ising model.
struct Theorem1 {
  IsingLattice target = IsingLattice(2, 2, true, 0.1, 0.2);
  StateTable table = StateTable(target);

  std::vector<double> log_z_alpha(const Coding& coding, double alpha) const {
    return log_normalizers(table, coding.flip / (2 * alpha));
  }
  Dlp dula(const Coding& coding, double alpha) const {
    DlpOptions options;
    options.adjust = false;
    options.step_size = alpha;
    options.distance = coding.distance;
    return Dlp(target.domain(), options);
  }

  Bias at(const Coding& coding, double alpha) const {
    double roots = 0;  // sum of sqrt(pi)
    for (const double p : table.probability()) roots += std::sqrt(p);
    return {alpha,
            l1_of_tilt(table.probability(), log_z_alpha(coding, alpha)),
            check_transitions(dula(coding, alpha), table).l1,
            printed_bound(table.log_z(), alpha, coding.lambda_min, 1),
            corrected_bound(roots, alpha, coding.lambda_min, coding.flip),
            1 + alpha * coding.lambda_min >= 0};
  }

  // The limit of l1 exp(1 / (2 alpha)) as alpha goes to 0, on {0, 1}.
  double rate_constant() const {
    const std::vector<double> first_order = log_z_alpha(kBits, 1.0 / 120);  // exp(-60) is small
    return l1_of_tilt(table.probability(), first_order) * std::exp(60.0);
  }
};

void add_bias_rows(const Coding& coding, const std::vector<Bias>& biases, Results& results) {
  const auto setting = [&](const Bias& b) {
    return Json{{"alpha", b.alpha}, {"coding", coding.name}};
  };
  for (const Bias& b : biases) {
    results.add("l1_bias", setting(b), {b.l1}, "The figure shows a curve without numbers.");
  }
  for (const Bias& b : biases) {
    const bool holds = b.l1 <= b.printed;
    results.add(
        "printed_bound", setting(b), {b.printed},
        fmt::format("Theorem 1 as printed: the bias, {:.4g}, is {} it.{}", b.l1,
                    holds ? "below" : "above",
                    b.applies ? "" : " Its proof needs 1 + alpha lambda_min >= 0, which fails."),
        holds ? Verdict::agrees : Verdict::cannot_hold);
  }
  for (const Bias& b : biases) {
    if (!b.applies) continue;
    results.add("corrected_bound", setting(b), {b.corrected},
                "2 ((sum sqrt pi)^2 - 1) exp(-delta^2 (1/(2 alpha) + lambda_min/2)).");
  }
}

Plot bias_plot(const Coding& coding, const std::vector<Bias>& biases, double constant) {
  Plot plot = labelled(
      fmt::format("Bias of DULA, 2 x 2 Ising, step size on {}", coding.name), "step size alpha",
      "l1 distance from the target",
      "The bias falls exponentially as the step size falls, and both bounds lie above it.");
  plot.log_x = plot.log_y = true;
  Series exact{"exact bias"}, rate{fmt::format("C exp(-{:g}/(2 alpha))", coding.flip)},
      printed{"bound as printed"}, right{"corrected bound"};
  for (const Bias& b : biases) {
    exact.add(b.alpha, b.l1);
    rate.add(b.alpha, constant * std::exp(-coding.flip / (2 * b.alpha)));
    printed.add(b.alpha, b.printed);
    if (b.applies) right.add(b.alpha, b.corrected);
  }
  plot.series = {exact, rate, printed, right};
  return plot;
}

// The smallest ratio of both bounds is what matters: how far the printed one is from failing.
void theorem_1(Context& context, Results& results) {
  const Theorem1 theorem;
  const std::vector<double> alphas =
      context.alphas({0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2, 4});
  Section section{"Theorem 1: the bias of DULA against the step size"};
  double worst = 0;
  for (const Coding& coding : {kBits, kSpins}) {
    std::vector<Bias> biases;
    for (const double alpha : alphas) biases.push_back(theorem.at(coding, alpha));
    for (const Bias& b : biases) worst = std::max(worst, std::abs(b.l1 - b.from_matrix));
    add_bias_rows(coding, biases, results);
    std::sort(biases.begin(), biases.end(), [](auto& a, auto& b) { return a.alpha < b.alpha; });
    section.plots.push_back(bias_plot(coding, biases, theorem.rate_constant()));
  }
  results.add("rate_constant", {{"coding", kBits.name}}, {theorem.rate_constant()},
              "The limit of bias * exp(1/(2 alpha)) exists: the rate of Theorem 1 is right.",
              Verdict::agrees);
  results.add("matrix_difference", Json::object(), {worst},
              "Largest difference between the closed form and the stationary law of the 16 x 16 "
              "transition matrix.");
  section.text = {
      "On a log-quadratic target DULA is reversible with respect to pi(x) Z_alpha(x), with Z_alpha "
      "the normalizer of its proposal. The curve below is that law's exact distance from the "
      "target, for the 2 x 2 Ising model with coupling 0.1 and field 0.2; no chain is needed for "
      "it.",
      "The paper's text codes states as -1 and 1, its code as 0 and 1. A flip is four times as far "
      "in the former, so that a step size of 4 alpha there is one of alpha here: the two plots are "
      "one curve. The bound is printed with the distance 1, which is right on {0,1} only; on "
      "{-1,1} the bias falls like exp(-4/(2 alpha))."};
  results.sections.push_back(std::move(section));
}

// One long chain, as the paper did it. With the signs of pi_alpha - pi known, sum sign (f - pi) of
// the frequencies f estimates the distance without the upward bias of sum |f - pi|.
void demonstration(Context& context, Results& results) {
  const Theorem1 theorem;
  const double alpha = 0.2;
  const auto steps = static_cast<std::uint64_t>(context.quick() ? 20'000 : 400'000);
  const int chains = 16;
  const std::span<const double> pi = theorem.table.probability();
  const std::vector<double> law = tilted(pi, theorem.log_z_alpha(kBits, alpha));
  const Dlp dula = theorem.dula(kBits, alpha);
  const auto distances =
      context.each_run("a long DULA chain", 1, [&](std::size_t, std::uint64_t seed) {
        std::vector<double> count(16);
        RowBuffer<Symbol> start(chains, 4);
        run_chains(theorem.target, dula, start.view(), steps, seed,
                   [&](int, std::uint64_t step, const Symbol* x, const StepInfo&) {
                     if (step >= steps / 10) {
                       ++count[static_cast<std::size_t>(8 * x[0] + 4 * x[1] + 2 * x[2] + x[3])];
                     }
                   });
        const double total = static_cast<double>(steps - steps / 10) * chains;
        double sum = 0;
        for (std::size_t s = 0; s < 16; ++s) {
          sum += (law[s] > pi[s] ? 1 : -1) * (count[s] / total - pi[s]);
        }
        return sum;
      });
  results.add("l1_bias_of_chains",
              {{"alpha", alpha}, {"coding", kBits.name}, {"steps", steps}, {"chains", chains}},
              measured(distances[0]),
              fmt::format("Measured along chains; exact: {:.6f}.", theorem.at(kBits, alpha).l1));
}

// ---- Where the bound of Theorem 1 fails

// Independent bits, log p = b sum x: W = 0, so that lambda_min = 0. States with the same number of
// ones have the same probability.
struct IndependentBits {
  int dim;
  double b, alpha;

  double log_z() const { return dim * std::log1p(std::exp(b)); }
  double l1() const {
    std::vector<double> probability, log_factor;
    const double k = 1 / (2 * alpha), up = std::log1p(std::exp(b / 2 - k)),
                 down = std::log1p(std::exp(-b / 2 - k));
    for (int ones = 0; ones <= dim; ++ones) {
      const double ways =
          std::lgamma(dim + 1.0) - std::lgamma(ones + 1.0) - std::lgamma(dim - ones + 1.0);
      probability.push_back(std::exp(ways + ones * b - log_z()));
      log_factor.push_back(ones * down + (dim - ones) * up);
    }
    return l1_of_tilt(probability, log_factor);
  }
  double printed() const { return printed_bound(log_z(), alpha, 0, 1); }
  double corrected() const {
    const double p = sigmoid(b);
    return corrected_bound(std::pow(std::sqrt(p) + std::sqrt(1 - p), dim), alpha, 0, 1);
  }
};

Plot failure_plot() {
  Plot plot = labelled("The bias of DULA as a part of the bound", "coordinates", "bias / bound",
                       "Above 1 the bound fails. The printed one does from 4 coordinates on; the "
                       "corrected one never does.");
  plot.log_y = true;
  Series printed{"as printed"}, right{"corrected"}, one{"the bound itself"};
  for (int dim = 1; dim <= 20; ++dim) {
    double worst = 0, worst_right = 0;
    for (double b = -6; b <= 2; b += 0.05) {
      const IndependentBits bits{dim, b, 0.05};
      worst = std::max(worst, bits.l1() / bits.printed());
      worst_right = std::max(worst_right, bits.l1() / bits.corrected());
    }
    printed.add(dim, worst);
    right.add(dim, worst_right);
    one.add(dim, 1);
  }
  plot.series = {printed, right, one};
  return plot;
}

void counterexamples(Results& results) {
  for (const IndependentBits& bits :
       {IndependentBits{4, -3, 0.05}, IndependentBits{10, -3.75, 0.05},
        IndependentBits{20, -4.5, 0.05}}) {
    const Json setting = {{"target", "independent bits"},
                          {"dim", bits.dim},
                          {"b", bits.b},
                          {"alpha", bits.alpha},
                          {"coding", kBits.name}};
    const double l1 = bits.l1(), bound = bits.printed();
    results.add("l1_bias", setting, {l1}, "Exact.");
    results.add("printed_bound", setting, {bound},
                fmt::format("The bias is {:.4g}, {:.3g} times the bound. The proof replaces "
                            "exp(U(x)/2 - U(x')/2) by exp(U(x)), which needs U(x) + U(x') >= 0.",
                            l1, l1 / bound),
                l1 > bound ? Verdict::cannot_hold : Verdict::agrees);
    results.add("corrected_bound", setting, {bits.corrected()}, "Holds.");
  }
  results.sections.push_back(
      {"Where the bound of Theorem 1 fails",
       {"The bound as printed, Z exp(-1/(2 alpha) - lambda_min/2), cannot hold in general: adding "
        "a constant to log p changes Z and nothing else, and a step of its proof needs U(x) + "
        "U(x') >= 0. Four independent bits with log p = -3 (x1 + x2 + x3 + x4) at step size 0.05 "
        "exceed it, and the excess grows with the number of coordinates. It also needs 1 + alpha "
        "lambda_min >= 0 (else the nearest state is not the one that matters) and a smallest "
        "distance of 1.",
        "What does hold, with delta the smallest distance between states and 1 + alpha lambda_min "
        ">= 0: the bias is at most 2 ((sum sqrt pi)^2 - 1) exp(-delta^2 (1/(2 alpha) + "
        "lambda_min/2)). The plot takes independent bits at step size 0.05, with the worst field "
        "from -6 to 2."},
       {failure_plot()}});
}

// ---- Theorem 2

// U = a x^2 + b x + 2 eps sin(pi x / 2) on {-1, 1}: the gradient there is 2 a x + b for every eps.
struct Sine {
  double a, b;

  double flip_logit(double x, double alpha) const { return -(2 * a * x + b) * x - 2 / alpha; }
  // 2 |pi(1) - pi_alpha(1)| by sigma(y) - sigma(z) = sinh((y - z) / 2) / (2 cosh(y/2) cosh(z/2)).
  double l1(double eps, double alpha) const {
    const double up = std::log1p(std::exp(flip_logit(-1, alpha))),
                 down = std::log1p(std::exp(flip_logit(1, alpha)));
    const double difference = 4 * eps + up - down;  // of the two log-odds
    const double target = 2 * b + 4 * eps, dula = target - difference;
    return std::abs(std::sinh(difference / 2)) / (std::cosh(target / 2) * std::cosh(dula / 2));
  }
};

void theorem_2(Results& results) {
  const std::vector<double> alphas = {0.2, 0.5, 1, 2, 10},
                            epsilons = {0, 0.01, 0.05, 0.1, 0.2, 0.5, 1};
  Plot plot = labelled("Bias of DULA against the distance from a quadratic", "epsilon",
                       "l1 distance from the target",
                       "The bias falls with epsilon down to a floor that the step size sets.");
  plot.log_x = plot.log_y = true;
  const Sine sine{1, 0.1}, flat{0, 0};
  for (const double alpha : alphas) {
    Series series{fmt::format("alpha {:g}", alpha)};
    for (const double eps : epsilons) {
      results.add("sine_l1_bias", {{"alpha", alpha}, {"epsilon", eps}, {"coding", kSpins.name}},
                  {sine.l1(eps, alpha)});
    }
    for (int k = 0; k <= 40; ++k) {
      const double eps = std::pow(10.0, -6 + 6 * k / 40.0);
      series.add(eps, sine.l1(eps, alpha));
    }
    plot.series.push_back(series);
  }
  results.add("sine_l1_bias", {{"alpha", 1.0}, {"epsilon", 0.5}, {"a", 0}, {"b", 0}},
              {flat.l1(0.5, 1)},
              "The paper's counterexample (a = b = 0): the gradient is 0 on both states, so that "
              "DULA is uniform whatever the target; DMALA proposes blindly but stays exact.",
              Verdict::agrees);
  results.add("sine_bias_growth", {{"alpha", 1.0}, {"epsilon", 1.0}},
              {sine.l1(1, 1) - sine.l1(0, 1)},
              "Condition (6) of Theorem 2 is stated on the states alone, where it holds with "
              "epsilon = 0 for every value of epsilon; yet the bias grows with epsilon. The "
              "condition must be asked of a connected set that contains the states.",
              Verdict::cannot_hold, 0.0);
  results.sections.push_back(
      {"Theorem 2: targets that are nearly log-quadratic",
       {"One coordinate on {-1,1} with log p = x^2 + 0.1 x + 2 epsilon sin(pi x / 2). Its gradient "
        "on the two states does not depend on epsilon, so neither does DULA; the target does. The "
        "bias falls with epsilon, as the paper says. Distances are those of {-1,1}; the paper "
        "states no step size.",
        "Theorem 2 asks that the gradient be within epsilon of a linear function on the states. "
        "Here that holds with epsilon = 0 for every target of the family, so that the theorem as "
        "stated would give the same bias to all of them. Its proof integrates the gradient along "
        "lines: the condition belongs on a connected set that contains the states."},
       {plot}});
}

// ---- Theorem 3

// A gradient estimate of g - delta or g + delta with probability 1/2 each, at x = 0.
struct NoisyGradient {
  double g, delta, alpha;

  double logit(double gradient) const { return gradient / 2 - 1 / (2 * alpha); }
  double l1() const {
    const double mean = (sigmoid(logit(g - delta)) + sigmoid(logit(g + delta))) / 2;
    return 2 * std::abs(mean - sigmoid(logit(g)));
  }
  double largest() const { return std::abs(g) + delta; }
  double printed() const { return 2 * delta * std::exp(-1 / (2 * alpha) + largest()); }
  double tight() const { return delta * std::exp(-1 / (2 * alpha) + largest() / 2); }
};

void theorem_3(Results& results) {
  for (const NoisyGradient& n :
       {NoisyGradient{0, 1, 0.1}, NoisyGradient{1, 0.5, 0.2}, NoisyGradient{-2, 2, 0.5}}) {
    const Json setting = {{"gradient", n.g}, {"sigma", n.delta}, {"alpha", n.alpha}};
    results.add("theorem3_l1", setting, {n.l1()});
    results.add("theorem3_printed_bound", setting, {n.printed()},
                "2 sigma exp(-1/(2 alpha) + L): holds, though far from tight.",
                n.l1() <= n.printed() ? Verdict::agrees : Verdict::cannot_hold);
    results.add("theorem3_tight_bound", setting, {n.tight()}, "sigma exp(-1/(2 alpha) + L/2).");
  }
  results.sections.push_back(
      {"Theorem 3: gradients from mini-batches",
       {"With a gradient that is off by sigma one way or the other, the expected proposal differs "
        "from the one with the true gradient by the numbers 'theorem3 l1' in the table. The "
        "printed bound holds. Its condition E[g_i] <= sigma^2 must read Var[g_i] <= sigma^2, and "
        "its proof drops the factor 1/2 of the gradient: with it, sigma exp(-1/(2 alpha) + L/2) is "
        "a bound."}});
}

}  // namespace

Results run_theory(Context& context) {
  Results results;
  results.findings = {
      "The rate of Theorem 1 is right: the bias of DULA on a log-quadratic target falls like "
      "exp(-1/(2 alpha)). Its printed bound is not: four independent bits break it.",
      "Theorem 2's condition must be asked of a connected set, not of the states alone. Theorem "
      "3's bound holds."};
  context.progress("exact laws");
  theorem_1(context, results);
  demonstration(context, results);
  counterexamples(results);
  theorem_2(results);
  theorem_3(results);
  return results;
}

}  // namespace saltus::reproduce
