#include "cli/anneal/report.hpp"

#include <fmt/core.h>

#include <cmath>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus::cli {
namespace {

std::string number_text(double v) {
  return fmt::format("{:.10g}", v);
}

// A time that may be much shorter than a second: "0.4 s", "12.3 ms", "4.5 us".
std::string short_time(double seconds) {
  if (seconds >= 0.1) return duration(seconds);
  return seconds >= 1e-4 ? fmt::format("{:.1f} ms", 1e3 * seconds)
                         : fmt::format("{:.1f} us", 1e6 * seconds);
}

// "cut 11624 (log p 2036)", or log p alone.
std::string value_text(const AnnealReport& report, double logp) {
  const auto& objective = report.request.objective;
  if (!objective) return "log p " + number_text(logp);
  return fmt::format("{} {} (log p {})", objective->name, number_text(objective->of_state(logp)),
                     number_text(logp));
}

double shown(const AnnealReport& report, double logp) {
  return report.request.objective ? report.request.objective->value(logp) : logp;
}

// Up to 64 levels of a state.
std::string state_line(const std::vector<Symbol>& state) {
  constexpr std::size_t kMost = 64;
  bool digits = true;
  for (const Symbol s : state) digits = digits && s < 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(state.size(), kMost); ++i) {
    text += (digits || i == 0 ? "" : " ") + std::to_string(state[i]);
  }
  return text + (state.size() > kMost ? " ..." : "");
}

// Of a problem that can repair states: "size 105, as it was found".
std::string solution_text(const AnnealReport& report) {
  const AnnealRequest& request = report.request;
  if (!report.result.solution) {
    const Constraint* constraint =
        (request.whole ? request.whole->target : request.target)->constraint();
    return "none: repairing the states that were found " +
           (constraint ? "breaks the constraint " + constraint->text()
                       : std::string("changes what is given"));
  }
  const Solution& s = *report.result.solution;
  std::string text = report.request.objective ? report.request.objective->name + " " : "";
  text += number_text(s.value);
  if (const auto ratio = goal_ratio(report.request, s.value))
    text += fmt::format(" ({:.6f} of the goal)", *ratio);
  if (s.repaired == 0) return text + ", as it was found";
  return text + fmt::format(", after {} {} dropped", count(s.repaired),
                            s.repaired == 1 ? "vertex was" : "vertices were");
}

void print_time_to_solution(const AnnealReport& report) {
  const AnnealResult& r = report.result;
  const auto restarts = r.restarts.logp.size();
  const double steps = static_cast<double>(r.betas.size());
  const double seconds = r.seconds / static_cast<double>(restarts);
  const TimeToSolution& t = *r.time_to_solution;
  show_row("reached", fmt::format("by {} of {} restarts: {} %, probably {} to {} %",
                                  count(r.reached), count(restarts), fixed(100 * r.success.mean, 1),
                                  fixed(100 * r.success.low, 1), fixed(100 * r.success.high, 1)));
  if (!t.restarts) {
    show_row("99 % sure", fmt::format("takes more than {} steps, {}", rounded(t.low * steps),
                                      short_time(t.low * seconds)));
    return;
  }
  show_row("99 % sure",
           fmt::format("after {} steps, {} (probably {} to {} steps){}",
                       rounded(*t.restarts * steps), short_time(*t.restarts * seconds),
                       rounded(t.low * steps), rounded(*t.high * steps),
                       report.request.goal ? "" : "; optimistic, as the goal is the best found"));
}

}  // namespace

void print_anneal(const AnnealReport& report) {
  const AnnealResult& r = report.result;
  const std::string parameters = parameters_text(r.parameters);
  show("{}, {}: {}{}{}\n", report.model.name(), shape_text(report.model.shape()), r.sampler.name,
       parameters.empty() ? "" : ", ", parameters);
  if (report.request.whole) show("given {}\n", given_text(report.request.whole->given));
  show("{} restarts of {} steps, {} schedule", count(report.request.restarts),
       count(report.request.steps), report.schedule);
  if (!r.betas.empty()) {
    show(", beta {} to {}", short_number(r.betas.front()), short_number(r.betas.back()));
  }
  show(", seed {}\n\n", report.request.seed);
  if (!r.complete) {
    show("Stopped after {} of {} steps; this is what there was.\n\n", count(r.steps_made),
         count(report.request.steps));
  }
  if (r.best) {
    const std::string where = r.best->pilot() ? "of the pilot" : fmt::format("{}", r.best->restart);
    show_row("best", value_text(report, r.best->logp));
    show_row("found by", fmt::format("restart {} after step {}", where, count(r.best->step)));
    if (r.report) show_row("that is", r.report->text);
    if (r.report && report.request.problem->repairs()) {
      show_row("allowed", solution_text(report));
    }
    if (report.request.goal) {
      const auto ratio = goal_ratio(report.request, report.result);
      show_row("goal", value_text(report, r.goal) +
                           (ratio ? fmt::format(", the best is {:.6f} of it", *ratio) : ""));
    }
  }
  if (r.time_to_solution) print_time_to_solution(report);
  if (r.population) {
    show_row("log Z",
             fmt::format("{:.5f} at the last beta, {} families left, rho_t {}", r.population->log_z,
                         count(r.population->families), short_number(r.population->rho_t)));
  }
  if (!r.restarts.logp.empty()) {
    const RestartQuantiles& q = r.quantiles;
    show_row("restarts",
             fmt::format("{} {} to {}, quartiles {}, {}, {}, mean {}",
                         report.request.objective ? report.request.objective->name : "log p",
                         number_text(shown(report, q.least)), number_text(shown(report, q.largest)),
                         number_text(shown(report, q.q25)), number_text(shown(report, q.median)),
                         number_text(shown(report, q.q75)), number_text(shown(report, q.mean))));
  }
  if (r.best) show_row("state", state_line(r.best->state));
  show_row("time", fmt::format("{}, {} of it for the restarts", short_time(r.total_seconds),
                               short_time(r.seconds)));
  if (!report.out.empty()) show_row("written to", report.out);
  show_warnings(r.warnings);
}

void show_anneal_json(const AnnealReport& report) {
  say_warnings(report.result.warnings);
  show_json(anneal_json(report.request, report.result, report.model.name(), report.schedule),
            {{"betas", report.result.betas}});
}

}  // namespace saltus::cli
