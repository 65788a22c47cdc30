#include "saltus/verify.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/number_text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/gradient_check.hpp"
#include "saltus/target/constrained.hpp"

namespace saltus {
namespace {

constexpr double kExact = 1e-12;          // rounding of sums over a few thousand states
constexpr double kSmallestPValue = 1e-4;  // one false alarm in ten thousand verifications
constexpr double kSteps = 2e6;
constexpr std::size_t kEigenvalueStates = 512;  // about a second
constexpr const char* kKernel = "kernel";       // in place of rows, reach, invariance, ..., steps

struct Stopped {};

class Checks {
 public:
  Checks(std::vector<Check>& list, const VerifyProgress& progress)
      : list_(list), progress_(progress) {}
  void add(Check check) {
    list_.push_back(std::move(check));
    if (progress_ && !progress_(list_.back())) throw Stopped();
  }
  void test(const std::string& name, bool good, const std::string& text) {
    add({name, good ? Check::Outcome::good : Check::Outcome::failed, text});
  }
  void skip(const std::string& name, const std::string& why) {
    add({name, Check::Outcome::skipped, why});
  }

 private:
  std::vector<Check>& list_;
  const VerifyProgress& progress_;
};

void verify_gradient(const Target& target, Checks& checks) {
  if (target.stochastic()) return checks.skip("gradient", "the gradient is a mini-batch estimate");
  const GradientCheck g = check_score(target);
  const std::string changes = fmt::format("over {} changes of one coordinate", g.changes);
  if (!g.finite)
    return checks.test("gradient", false, "log p or its gradient is not finite " + changes);
  if (g.exact()) {
    return checks.test("gradient", true,
                       fmt::format("explains log p exactly {} (largest relative error {:.1e})",
                                   changes, g.worst_error));
  }
  checks.test(
      "gradient", g.plausible(),
      fmt::format(
          "correlation {:.4f} and slope {:.4f} between changes of log p and what the gradient "
          "predicts, {}; worst at coordinate {}: {:.6g} against {:.6g}",
          g.correlation, g.slope, changes, g.coordinate, g.difference, g.predicted));
}

// Levels per coordinate at which an unbounded model fits into an exact table.
int levels_for_table(const Domain& domain) {
  const double most = std::pow(static_cast<double>(StateTable::kMostStates), 1.0 / domain.dim());
  return std::min(64, static_cast<int>(most + 1e-9));
}

bool fits_table(const Target& target) {
  if (target.domain().unbounded()) return levels_for_table(target.domain()) >= 4;
  return count_states(target, StateTable::kMostStates).has_value();
}

std::string classes_text(int classes, const Target& target) {
  std::string text = fmt::format(
      "some states cannot be reached from others: they fall into {}{} classes, and a chain never "
      "leaves its own",
      classes >= 32 ? "at least " : "", classes);
  if (target.forbidden_states()) {
    text +=
        ". States of probability 0 lie between them; a sampler that changes several "
        "coordinates at once (dmala, dlmc) can cross these";
  }
  return text;
}

void verify_matrix(const Sampler& sampler, const StateTable& table, Checks& checks) {
  const Conformance c = check_transitions(sampler, table);
  checks.test("rows", c.rows < kExact,
              fmt::format("every row of the {} x {} transition matrix sums to 1 (error {:.1e})",
                          table.size(), table.size(), c.rows));
  if (sampler.exact()) {
    checks.test("reach", c.irreducible,
                c.irreducible ? "every state can be reached from every other"
                              : classes_text(c.classes, table.target()));
    checks.test(
        "invariance", c.invariance < kExact,
        fmt::format("the model is left invariant (largest defect {:.1e}; acceptance {:.4f})",
                    c.invariance, c.acceptance));
  } else {
    checks.skip(
        "invariance",
        fmt::format("{} is unadjusted; its stationary law is at L1 distance {:.4g} from the model",
                    sampler.name(), c.l1));
  }
  if (sampler.reversible()) {
    checks.test("reversibility", c.reversibility < kExact,
                fmt::format("detailed balance holds (largest defect {:.1e})", c.reversibility));
  } else {
    checks.skip("reversibility",
                fmt::format("{} does not promise detailed balance", sampler.name()));
  }
}

// How fast the sampler forgets where it started.
void note_relaxation(const Sampler& sampler, const StateTable& table, Checks& checks) {
  if (table.size() > kEigenvalueStates) return;
  const double lambda = second_eigenvalue(sampler, table);
  std::string text = fmt::format("second eigenvalue {:.10f}", lambda);
  if (lambda > 0 && lambda < 1) {
    text += fmt::format(": a relaxation time of {:.4g} steps", -1 / std::log(lambda));
  }
  checks.add({"relaxation", Check::Outcome::note, text});
}

void verify_steps(const Sampler& sampler, const Target& target, const StateTable& table,
                  Checks& checks) {
  const double per_state = std::clamp(kSteps / static_cast<double>(table.size()), 256.0, 20000.0);
  const StepCheck s = check_steps(sampler, target, table, static_cast<std::uint64_t>(per_state));
  checks.test("steps", s.p_value > kSmallestPValue && !s.impossible,
              fmt::format("{} real steps follow the matrix (chi-square {:.1f} on {:.0f} degrees of "
                          "freedom, p = {:.3g})",
                          with_commas(s.steps), s.chi_square, s.degrees, s.p_value));
}

void verify_exactly(const Sampler& sampler, const Target& target, Checks& checks) {
  const Domain& domain = target.domain();
  if (!fits_table(target)) {
    const std::string why = fmt::format(
        "the model has more than {} states, too many for the transition matrix: verify "
        "the sampler on a small model of this kind",
        StateTable::kMostStates);
    return checks.skip(kKernel, why);
  }
  const StateTable table(target, levels_for_table(domain));
  if (domain.unbounded()) {
    checks.add({"states", Check::Outcome::note,
                fmt::format("levels 0 to {} of each coordinate stand for the unbounded model",
                            table.domain().max_levels() - 1)});
  }
  if (!sampler.enumerable()) {
    const std::string why =
        sampler.name() + " moves on more than the model's states, so there is no matrix";
    return checks.skip(kKernel, why);
  }
  verify_matrix(sampler, table, checks);
  note_relaxation(sampler, table, checks);
  verify_steps(sampler, target, table, checks);
}

}  // namespace

bool VerifyResult::kernel_checked() const {
  return std::ranges::find(checks, kKernel, &Check::name) == checks.end();
}

bool VerifyResult::good() const {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& c) { return c.outcome == Check::Outcome::failed; });
}

VerifyResult verify(const VerifyRequest& request, const VerifyProgress& progress) {
  if (!request.target) throw UsageError("there is no target to verify a sampler on");
  const Target& target = *request.target;
  std::shared_ptr<const Sampler> sampler = request.own_sampler;
  if (!sampler) sampler = make_sampler(request.sampler, target, request.settings);
  VerifyResult result{sampler->name(), sampler->parameters(), {}};
  Checks checks(result.checks, progress);
  try {
    verify_gradient(target, checks);
    verify_exactly(*sampler, target, checks);
  } catch (const Stopped&) {  // the caller's wish
  }
  return result;
}

}  // namespace saltus
