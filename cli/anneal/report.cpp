#include "cli/anneal/report.hpp"

#include <fmt/core.h>

#include <cmath>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "saltus/version.hpp"

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

Json tts_json(const AnnealReport& report) {
  const AnnealResult& r = report.result;
  if (!r.time_to_solution) return nullptr;
  const TimeToSolution& t = *r.time_to_solution;
  const double steps = static_cast<double>(r.betas.size());
  const double seconds = r.seconds / static_cast<double>(r.restarts.logp.size());
  const auto times = [](std::optional<double> restarts, double each) {
    return restarts ? json_number(*restarts * each) : Json(nullptr);
  };
  return {{"steps", times(t.restarts, steps)},
          {"seconds", times(t.restarts, seconds)},
          {"low", t.low * steps},
          {"high", times(t.high, steps)},
          {"seconds_low", t.low * seconds},
          {"seconds_high", times(t.high, seconds)}};
}

Json objective_json(const AnnealReport& report) {
  const auto& objective = report.request.objective;
  if (!objective || !report.result.best) return nullptr;
  return {{"name", objective->name},
          {"sense", objective->maximise ? "max" : "min"},
          {"best", json_number(objective->of_state(report.result.best->logp))},
          {"mean", json_number(objective->value(report.result.quantiles.mean))}};
}

// Best beside goal, by the objective; nothing where that says nothing.
std::optional<double> goal_ratio(const AnnealReport& report, double best) {
  const auto& objective = report.request.objective;
  if (!objective || !report.request.goal) return std::nullopt;
  const double goal = objective->of_state(*report.request.goal);
  return goal == 0 ? std::nullopt : std::optional(best / goal);
}

std::optional<double> goal_ratio(const AnnealReport& report) {
  const auto& objective = report.request.objective;
  if (!objective || !report.result.best) return std::nullopt;
  return goal_ratio(report, objective->of_state(report.result.best->logp));
}

Json ratio_json(std::optional<double> ratio) {
  return ratio ? json_number(*ratio) : Json(nullptr);
}

Json first_reach_json(const std::optional<FirstReach>& first) {
  if (!first) return nullptr;
  return {{"step", first->step}, {"evaluations", first->evaluations}, {"seconds", first->seconds}};
}

Json whole_or_real(double v) {
  const bool whole = v == std::trunc(v) && std::abs(v) < 0x1p53;
  return whole ? Json(static_cast<std::int64_t>(v)) : json_number(v);
}

Json problem_json(const AnnealReport& report) {
  const auto& state = report.result.report;
  if (!state) return nullptr;
  Json j = {{"name", report.request.problem->name()},
            {"feasible", state->feasible ? Json(*state->feasible) : Json(nullptr)},
            {"text", state->text}};
  for (const auto& [name, value] : state->numbers) j[name] = whole_or_real(value);
  return j;
}

Json solution_json(const AnnealReport& report) {
  const auto& solution = report.result.solution;
  if (!solution) return nullptr;
  return {{"value", whole_or_real(solution->value)},
          {"goal_ratio", ratio_json(goal_ratio(report, solution->value))},
          {"repaired", solution->repaired},
          {"restart", solution->restart},
          {"state", solution->state}};
}

// "105, restart 3, as it was found"
std::string solution_text(const AnnealReport& report) {
  const Solution& s = *report.result.solution;
  std::string text = report.request.objective ? report.request.objective->name + " " : "";
  text += number_text(s.value);
  if (const auto ratio = goal_ratio(report, s.value))
    text += fmt::format(" ({:.6f} of the goal)", *ratio);
  if (s.repaired == 0) return text + ", as it was found";
  return text + fmt::format(", after {} {} dropped", count(s.repaired),
                            s.repaired == 1 ? "vertex was" : "vertices were");
}

Json best_json(const std::optional<BestState>& best) {
  if (!best) return nullptr;
  return {{"logp", json_number(best->logp)},
          {"energy", json_number(-best->logp)},
          {"state", best->state},
          {"restart", best->restart},
          {"pilot", best->pilot()},
          {"step", best->step}};
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
    if (r.solution) show_row("allowed", solution_text(report));
    if (report.request.goal) {
      const auto ratio = goal_ratio(report);
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
  const AnnealRequest& request = report.request;
  const AnnealResult& r = report.result;
  const RestartQuantiles& q = r.quantiles;
  Json j;
  j["model"] = report.model.name();
  add_constraint(j, report.model);
  j["dimension"] = report.model.domain().dim();
  if (request.whole) j["given"] = given_json(request.whole->given);
  j["complete"] = r.complete;
  j["best"] = best_json(r.best);
  j["objective"] = objective_json(report);
  add_labels(j, request.labels);
  j["goal"] = r.best ? json_number(r.goal) : Json(nullptr);
  j["goal_is"] = request.goal ? "given" : "best found";
  j["goal_ratio"] = ratio_json(goal_ratio(report));
  j["problem"] = problem_json(report);
  j["solution"] = solution_json(report);
  j["reached"] = r.reached;
  j["first_reached"] = first_reach_json(r.first_reach);
  j["restarts"] = r.restarts.logp.size();
  j["success"] =
      r.time_to_solution
          ? Json{{"mean", r.success.mean}, {"low", r.success.low}, {"high", r.success.high}}
          : Json(nullptr);
  j["tts99"] = tts_json(report);
  j["population"] = r.population ? Json{{"log_z", json_number(r.population->log_z)},
                                        {"families", r.population->families},
                                        {"rho_t", json_number(r.population->rho_t)}}
                                 : Json(nullptr);
  j["quantiles"] = r.restarts.logp.empty()
                       ? Json(nullptr)
                       : Json{{"least", q.least}, {"q25", q.q25},         {"median", q.median},
                              {"q75", q.q75},     {"largest", q.largest}, {"mean", q.mean}};
  j["steps"] = request.steps;
  j["steps_made"] = r.steps_made;
  j["schedule"] = {{"kind", report.schedule},
                   {"first", r.betas.empty() ? Json(nullptr) : Json(r.betas.front())},
                   {"last", r.betas.empty() ? Json(nullptr) : Json(r.betas.back())},
                   {"betas", long_list("betas")}};
  j["sampler"] = r.sampler.name;
  j["parameters"] = parameters_json(r.parameters);
  j["polish"] = request.polish;
  j["seed"] = request.seed;
  add_warnings(j, r.warnings);
  j["seconds"] = r.seconds;
  j["total_seconds"] = r.total_seconds;
  j["version"] = version();
  show_json(j, {{"betas", r.betas}});
}

}  // namespace saltus::cli
