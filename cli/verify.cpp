// saltus verify: is this sampler right for this model? Says what was checked and what could not be.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "cli/model_options.hpp"
#include "cli/sample/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/gradient_check.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

constexpr double kExact = 1e-12;          // rounding of sums over a few thousand states
constexpr double kSmallestPValue = 1e-4;  // one false alarm in ten thousand verifications
constexpr double kSteps = 2e6;

struct Checks {
  bool json;
  bool all_good = true;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();

  void add(const std::string& name, const std::string& verdict, const std::string& text) {
    if (verdict == "FAILED") all_good = false;
    results.push_back({{"check", name}, {"verdict", verdict}, {"detail", text}});
    if (!json) show("{:<14} {:<8} {}\n", name, verdict, text);
  }
  void test(const std::string& name, bool good, const std::string& text) {
    add(name, good ? "ok" : "FAILED", text);
  }
  void skip(const std::string& name, const std::string& why) { add(name, "skipped", why); }
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

bool fits_table(const Domain& domain) {
  if (domain.unbounded()) return levels_for_table(domain) >= 4;
  return domain.states(StateTable::kMostStates).has_value();
}

void verify_matrix(const Sampler& sampler, const StateTable& table, Checks& checks) {
  const Conformance c = check_transitions(sampler, table);
  checks.test("rows", c.rows < kExact,
              fmt::format("every row of the {} x {} transition matrix sums to 1 (error {:.1e})",
                          table.size(), table.size(), c.rows));
  if (sampler.exact()) {
    checks.test("reach", c.irreducible,
                c.irreducible ? "every state can be reached from every other"
                              : "some states cannot be reached from others");
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

void verify_steps(const Sampler& sampler, const Target& target, const StateTable& table,
                  Checks& checks) {
  const double per_state = std::clamp(kSteps / static_cast<double>(table.size()), 256.0, 20000.0);
  const StepCheck s = check_steps(sampler, target, table, static_cast<std::uint64_t>(per_state));
  checks.test("steps", s.p_value > kSmallestPValue && !s.impossible,
              fmt::format("{} real steps follow the matrix (chi-square {:.1f} on {:.0f} degrees of "
                          "freedom, p = {:.3g})",
                          with_commas(s.steps), s.chi_square, s.degrees, s.p_value));
}

int verify(const ModelRequest& asked, const std::string& sampler_name, const Settings& settings,
           bool json) {
  const Model model = load_model(asked);
  const Target& target = *model.target;
  const auto sampler = make_sampler(sampler_name, target, settings);
  std::string parameters;
  for (const Parameter& p : sampler->parameters()) {
    if (p.name.ends_with("adapt")) continue;  // nothing is tuned here
    parameters += (parameters.empty() ? "" : ", ") + parameter_text(p);
  }
  Checks checks{json};
  if (!json) {
    show("{} on {}, {} coordinates ({})\n\n", sampler->name(), target.name(), target.domain().dim(),
         parameters);
  }
  verify_gradient(target, checks);
  if (!fits_table(target.domain())) {
    const std::string why =
        fmt::format("the model has more than {} states, so the transition matrix is out of reach",
                    StateTable::kMostStates);
    for (const char* name : {"rows", "invariance", "reversibility", "steps"})
      checks.skip(name, why);
  } else {
    const StateTable table(target, levels_for_table(target.domain()));
    if (target.domain().unbounded()) {
      checks.add("states", "note",
                 fmt::format("levels 0 to {} of each coordinate stand for the unbounded model",
                             table.domain().max_levels() - 1));
    }
    if (sampler->enumerable()) {
      verify_matrix(*sampler, table, checks);
      verify_steps(*sampler, target, table, checks);
    } else {
      for (const char* name : {"rows", "invariance", "reversibility", "steps"}) {
        checks.skip(name, sampler->name() +
                              " moves on more than the model's states, so there is no matrix");
      }
    }
  }
  if (json) {
    const nlohmann::ordered_json j = {{"model", target.name()},
                                      {"sampler", sampler->name()},
                                      {"parameters", parameters_json(sampler->parameters())},
                                      {"ok", checks.all_good},
                                      {"checks", checks.results}};
    show_json(j);
  } else {
    show("\n{}\n",
         checks.all_good ? "Nothing wrong was found." : "Something is wrong: see FAILED above.");
  }
  return checks.all_good ? ok : failed;
}

}  // namespace

void add_verify(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("verify", "Check a sampler on a model: exactly where it is small");
  struct Options {
    ModelRequest model;
    std::string sampler = "dmala";
    std::vector<std::string> set;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  o->model.model = "ising-2x2";
  add_model_options(*command, o->model);
  command->add_option("--sampler", o->sampler, "Sampler")->capture_default_str();
  command->add_option("--set", o->set, "Sampler parameter KEY=VALUE, repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--json", o->json, "Print the results as JSON, and nothing else");
  command->callback(
      [o, &status] { status = verify(o->model, o->sampler, parse_settings(o->set), o->json); });
}

}  // namespace saltus::cli
