// The paper's example of a preconditioner: U = x'diag(-0.001, -1000)x on {-1, 1}^2. log p is the
// same for all four states, so that the target is uniform; the two gradients differ by a factor of
// a million.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/scalar_math.hpp"
#include "reproduce/chains.hpp"
#include "reproduce/experiment.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus::reproduce {
namespace {

constexpr double kW[2] = {-0.001, -1000};
// Of log RMSE of two fair coins: RMSE^2 is chi-square with two degrees of freedom.
constexpr double kRunSd = std::numbers::pi / (2 * 2.449489742783178);
constexpr double kPaperPreconditioned = -6.2, kPaperPlain = -0.34;

Quadratic model() {
  return Quadratic("two scales", Domain::spin(2), {{0, 0, kW[0]}, {1, 1, kW[1]}}, {0, 0});
}

struct Kernel {
  std::string name;
  double alpha;
  std::vector<double> precondition;
  bool naive = false;  // with exp(l) / (exp(l) + 1) in single precision
};

Dlp dula(const Quadratic& target, const Kernel& kernel) {
  DlpOptions options;
  options.adjust = false;
  options.step_size = kernel.alpha;
  options.precondition = kernel.precondition;
  options.distance = DlpOptions::Distance::value;  // the example's numbers are those of {-1, 1}
  return Dlp(target.domain(), options);
}

// The logit of a flip of coordinate i: -2 W_ii - 2 / (alpha p_i), at every state.
double flip_logit(const Kernel& kernel, std::size_t i) {
  const double p = kernel.precondition.empty() ? 1 : kernel.precondition[i];
  return -2 * kW[i] - 2 / (kernel.alpha * p);
}

// As a program without care computes it: NaN for a logit above 88.7.
float naive_flip_probability(const Kernel& kernel, std::size_t i) {
  const float e = std::exp(static_cast<float>(flip_logit(kernel, i)));
  return e / (e + 1.0F);
}

struct Curve {
  std::vector<double> steps, log_rmse;
};

// Means of both coordinates along a chain.
class RunningMeans {
 public:
  // Kept after 100 steps, after the last one, and whenever a fifth more are done.
  RunningMeans(std::uint64_t steps, Curve& curve) : last_(steps), curve_(curve) {}
  void add(std::uint64_t step, const Symbol* x) {
    for (std::size_t i = 0; i < 2; ++i) sum_[i] += 2.0 * x[i] - 1;
    const auto n = static_cast<double>(step + 1);
    if (step + 1 != next_ && step + 1 != last_) return;
    next_ = next_ * 6 / 5;
    const double mse = (sum_[0] * sum_[0] + sum_[1] * sum_[1]) / (2 * n * n);  // true mean: 0
    // A mean of exactly 0 counts as half of the smallest other one, so that its log is finite.
    const double resolution = 1 / (2 * n * n);
    curve_.steps.push_back(n);
    curve_.log_rmse.push_back(std::log(std::max(mse, resolution)) / 2);
  }

 private:
  std::uint64_t next_ = 100, last_;
  Curve& curve_;
  double sum_[2] = {0, 0};
};

void naive_chain(const Kernel& kernel, Symbol* x, std::uint64_t steps, std::uint64_t seed,
                 RunningMeans& means) {
  const float flip[2] = {naive_flip_probability(kernel, 0), naive_flip_probability(kernel, 1)};
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Stream stream(seed, 0, step, Purpose::propose);
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (static_cast<float>(stream.uniform(i)) < flip[i]) x[i] ^= 1;  // never true for NaN
    }
    means.add(step, x);
  }
}

// One chain from (1, -1).
Curve run_chain(const Quadratic& target, const Kernel& kernel, std::uint64_t steps,
                std::uint64_t seed) {
  Curve curve;
  RunningMeans means(steps, curve);
  RowBuffer<Symbol> start(1, 2);
  start.view()[0][0] = 1;
  if (kernel.naive) {
    naive_chain(kernel, start.view()[0], steps, seed, means);
  } else {
    run_chains(
        target, dula(target, kernel), start.view(), steps, seed,
        [&](int, std::uint64_t step, const Symbol* x, const StepInfo&) { means.add(step, x); });
  }
  return curve;
}

// The l1 distance of the law of the state at even times from the target: what a time average hides
// when a coordinate flips at every step.
double l1_at_even_time(const Quadratic& target, const Kernel& kernel, int steps) {
  const StateTable table(target);
  const Dlp sampler = dula(target, kernel);
  RowBuffer<double> matrix(4, 4);
  std::vector<double> acceptance(4), law = {0, 0, 1, 0};  // (1, -1) is the third state
  sampler.transition_matrix(table, {}, matrix.view(), acceptance);
  for (int t = 0; t < steps; ++t) {
    std::vector<double> next(4);
    for (int s = 0; s < 4; ++s) {
      for (int y = 0; y < 4; ++y) {
        next[static_cast<std::size_t>(y)] += law[static_cast<std::size_t>(s)] * matrix.view()[s][y];
      }
    }
    law = next;
  }
  double sum = 0;
  for (const double p : law) sum += std::abs(p - 0.25);
  return sum;
}

std::vector<Kernel> kernels(const Context& context) {
  std::vector<Kernel> list = {{"preconditioned, p = (1000, 0.001)", 1, {1000, 0.001}},
                              {"preconditioned, p = (10^6, 10^-6)", 1, {1e6, 1e-6}}};
  const std::vector<double> alphas = context.alphas({0.001, 0.1, 1, 10, 1000});
  for (const bool naive : {false, true}) {
    for (const double alpha : alphas) {
      list.push_back({fmt::format("plain{}, alpha {:g}", naive ? " with naive exp" : "", alpha),
                      alpha,
                      {},
                      naive});
    }
  }
  return list;
}

Json setting_of(const Kernel& kernel) {
  Json setting = {{"alpha", kernel.alpha}};
  setting["precondition"] = kernel.precondition.empty() ? Json("none") : Json(kernel.precondition);
  setting["arithmetic"] = kernel.naive ? "naive exp" : "exact";
  return setting;
}

void add_flip_rows(const std::vector<Kernel>& list, Results& results) {
  for (const Kernel& kernel : list) {
    for (std::size_t i = 0; i < 2; ++i) {
      const double flip = kernel.naive ? static_cast<double>(naive_flip_probability(kernel, i))
                                       : sigmoid(flip_logit(kernel, i));
      results.add("flip_probability", with(setting_of(kernel), "coordinate", i + 1), {flip},
                  std::isnan(flip) ? "NaN: the coordinate never moves." : "");
    }
  }
}

// The paper gives one number for p = g and one for plain DLP at any step size.
void judge(const Kernel& kernel, const Measured& m, std::uint64_t steps, Row& row) {
  if (!kernel.precondition.empty() && kernel.precondition[0] == 1000) {
    row.paper = kPaperPreconditioned;
    row.verdict = judge_number(m, {kPaperPreconditioned, {}, 0.1});
    row.note = fmt::format(
        "Both flips are fair coins. One run of {} steps varies by {:.2f} (standard deviation); the "
        "paper's number of steps is not stated.",
        steps, kRunSd);
  } else if (!kernel.precondition.empty()) {
    row.note =
        "The appendix divides by g^2 where the body divides by g: coordinate 2 then never moves.";
  } else {
    row.paper = kPaperPlain;
    const bool near = std::abs(m.mean - kPaperPlain) < 0.01;
    row.verdict = near ? Verdict::agrees : Verdict::cannot_hold;
    if (near) {
      row.note = "One coordinate is stuck and the other averages to 0: ln sqrt(1/2) = -0.3466.";
    } else if (kernel.naive) {
      row.verdict = Verdict::differs;
      row.note = "Both coordinates are stuck, one of them because its probability is NaN.";
    } else {
      row.note =
          "Coordinate 2 flips at every step, so that its time average is 0; it looks stuck only "
          "where exp overflows.";
    }
  }
}

void log_rmse(Context& context, const Quadratic& target, const std::vector<Kernel>& list,
              Results& results, Section& section) {
  const auto steps = static_cast<std::uint64_t>(50'000);
  const auto curves = context.each_run(
      "chains", list.size(),
      [&](std::size_t k, std::uint64_t seed) { return run_chain(target, list[k], steps, seed); });
  Plot plot = labelled("Error of the time averages", "steps", "log RMSE",
                       "Mean over runs; the band is one standard deviation of a run. With the "
                       "right preconditioner the error falls like that of fair coins.");
  plot.log_x = plot.wide = true;
  for (std::size_t k = 0; k < list.size(); ++k) {
    Series series{list[k].name};
    Measured m;
    for (std::size_t at = 0; at < curves[k][0].steps.size(); ++at) {
      m = over_runs(curves[k], [&](const Curve& c) { return c.log_rmse[at]; });
      series.add(curves[k][0].steps[at], m.mean);
      if (k == 0) add_band(m, series);  // one band is enough
    }
    judge(list[k], m, steps, results.add("log_rmse", with(setting_of(list[k]), "steps", steps), m));
    if (!list[k].naive) plot.series.push_back(series);
  }
  section.plots.push_back(plot);
}

void even_times(const Quadratic& target, const std::vector<Kernel>& list, Results& results,
                Section& section) {
  Plot plot = labelled("Distance of the law at even times from the target", "steps", "l1 distance",
                       "Exact. Only p = (1000, 0.001) reaches the target. At 1, one coordinate is "
                       "frozen or alternates; at 1.5, both.");
  plot.log_x = plot.wide = true;
  plot.y_to = 2;
  for (const Kernel& kernel : list) {
    if (kernel.naive) continue;
    Series series{kernel.name};
    for (int t = 2; t <= 2048; t *= 2) series.add(t, l1_at_even_time(target, kernel, t));
    results.add("l1_of_law_at_even_time", with(setting_of(kernel), "steps", 2048),
                {series.y.back()},
                series.y.back() > 0.5 ? "Does not mix, whatever its time average says." : "");
    plot.series.push_back(series);
  }
  section.plots.push_back(plot);
}

}  // namespace

Results run_preconditioner(Context& context) {
  Results results;
  const Quadratic target = model();
  const std::vector<Kernel> list = kernels(context);
  Section section{"Two coordinates of very different scale"};
  section.text = {
      "log p = x'diag(-0.001, -1000)x is constant on {-1,1}^2: the target is uniform, and its true "
      "mean is 0. A flip of coordinate i has log-odds -2 W_ii - 2/(alpha p_i), with p_i the "
      "preconditioner. With p = (1000, 0.001) and step size 1 both are exactly 0: two fair coins.",
      "Without a preconditioner no step size mixes. A small one freezes coordinate 1. A large one "
      "makes coordinate 2 flip at every step, with log-odds up to 2000: its time average is then "
      "0, and the error of the means looks excellent, although the chain only alternates. A "
      "program that computes exp(2000)/(exp(2000) + 1) in single precision gets NaN, a comparison "
      "with NaN is false, and the coordinate looks stuck at its start: this is where -0.34 'for "
      "any step size' comes from. The second plot is the honest measure: the law of the state at "
      "even times."};
  add_flip_rows(list, results);
  log_rmse(context, target, list, results, section);
  even_times(target, list, results, section);
  results.sections.push_back(std::move(section));
  results.findings = {
      "The preconditioner does what the paper says, with the formula of its body (p = g); with "
      "that of its appendix (p = g^2) one coordinate is frozen.",
      "That plain DLP reaches -0.34 at any step size cannot hold: from step size 1 on, exact "
      "arithmetic makes a coordinate alternate, with a vanishing time average. It does not mix, "
      "but the error of the means does not show that."};
  return results;
}

}  // namespace saltus::reproduce
