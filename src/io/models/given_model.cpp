#include "io/models/given_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "io/given/given_text.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/model/condition.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/given.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_single_state(const WholeModel& whole, const std::string& constraint) {
  const GivenValues& values = whole.given;
  const std::vector<Symbol> state = values.whole(std::vector<Symbol>(values.free().size()));
  const double logp = logp_of(*whole.target, state.data());
  if (!constraint.empty() &&
      !Constraint::parse(constraint, values.domain().dim()).allows(state.data())) {
    throw DataError("the state that is given breaks the constraint " + constraint);
  }
  if (logp == -INFINITY) throw DataError("the state that is given has probability 0");
  throw NothingFree(
      fmt::format("all coordinates of the model {} are given: there is nothing left to draw; "
                  "log p of that state is {}",
                  whole.target->name(), logp),
      logp);
}

}  // namespace

void refuse_device_with_given(const Model& model, const ModelOptions& options) {
  const bool network = std::holds_alternative<ScriptModel>(model.value) ||
                       std::holds_alternative<ResnetEnergy>(model.value);
  if (options.device.device == Device::cpu || network) return;
  throw UsageError("models with given values are computed on the processor: leave the device out");
}

void leave_free(Model& model, const std::string& given, const std::string& constraint) {
  GivenValues values = read_given(given, model.target->domain(), labels_of(model.value));
  if (values.list().empty()) return;
  const auto whole = std::make_shared<const WholeModel>(
      WholeModel{std::move(model.target), std::move(values), model.text});
  if (whole->given.fixes_all()) refuse_single_state(*whole, constraint);
  // Folded into the model's numbers where that is possible.
  if (const std::optional<AnyModel> folded = condition(model.value, whole->given)) {
    model.target = make_target(*folded);
  } else {
    model.target = std::make_unique<Given>(whole->target, whole->given.list());
  }
  if (!model.text.empty()) {
    model.text = Json{{"given", whole->given.text()}, {"of", model.text}}.dump();
  }
  model.whole = whole;
}

void restrict_target(Model& model, const std::string& constraint) {
  if (constraint.empty()) return;
  const Target& all = model.whole ? *model.whole->target : *model.target;
  require_two_levels(all, constraint);
  Constraint rule = Constraint::parse(constraint, all.domain().dim());
  if (!model.text.empty()) {  // empty: no file describes the model
    Json json = Json::parse(model.text);
    json[kConstraintField] = rule.text();
    model.text = json.dump();
  }
  if (model.whole) return restrict_free(model, rule);
  model.target = std::make_unique<Constrained>(std::move(model.target), std::move(rule));
}

void restrict_free(Model& model, const Constraint& rule) {
  const WholeModel& whole = *model.whole;
  std::vector<int> levels(static_cast<std::size_t>(whole.given.domain().dim()), -1);
  for (const auto& [i, level] : whole.given.list()) levels[static_cast<std::size_t>(i)] = level;
  model.target = std::make_unique<Constrained>(std::move(model.target), rule.given(levels));
  model.whole = std::make_shared<const WholeModel>(
      WholeModel{std::make_shared<const Constrained>(whole.target, rule), whole.given, whole.text});
}

std::optional<Independent> base_of_target(const Model& model) {
  if (model.target->constraint()) return std::nullopt;  // chains begin among the states it allows
  std::optional<Independent> base = model_base(model.value);
  if (!base || !model.whole) return base;
  std::vector<double> upper;
  for (const std::int32_t i : model.whole->given.free()) {
    upper.push_back(std::exp(base->log_probability(i, 1)));
  }
  return Independent::bernoulli(model.target->domain(), upper);
}

std::string given_in_text(const std::string& model_text) {
  if (model_text.empty()) return "";
  const Json json = parse_strictly(model_text, "the model");
  const bool some = json.is_object() && json.contains("given") && json.contains("of");
  return some ? json["given"].get<std::string>() : "";
}

}  // namespace saltus
