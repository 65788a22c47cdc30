#include "service/result_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/printable.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

// As the JSON library writes a number: the digits that restore it, marked as not whole.
std::string json_number_text(double v) {
  if (!std::isfinite(v)) return "null";
  std::string text = fmt::format("{}", v);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

void write_list(const LongList& list, const std::function<void(std::string_view)>& out) {
  out("[");
  for (std::size_t i = 0; i < list.numbers.size(); ++i) {
    const double v = list.numbers[i];
    out((i ? ", " : "") + (list.whole ? fmt::format("{:.0f}", v) : json_number_text(v)));
  }
  out("]");
}

}  // namespace

std::string long_list(const std::string& name) {
  return "\x01" + name;
}

void write_json(const OrderedJson& json, const LongLists& lists, int indent,
                const std::function<void(std::string_view)>& out) {
  const std::string text =
      printable_json(json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace));
  std::string_view rest = text;
  while (!rest.empty()) {
    constexpr std::string_view mark = "\"\\u0001";
    const std::size_t at = std::min(rest.find(mark), rest.size());
    out(rest.substr(0, at));
    rest.remove_prefix(at);
    if (rest.empty()) break;
    const std::size_t end = rest.find('"', mark.size());
    const auto list = lists.find(std::string(rest.substr(mark.size(), end - mark.size())));
    if (list == lists.end()) {
      out(rest.substr(0, end + 1));
    } else {
      write_list(list->second, out);
    }
    rest.remove_prefix(end + 1);
  }
}

OrderedJson json_number(double v) {
  return std::isfinite(v) ? OrderedJson(v) : OrderedJson(nullptr);
}

OrderedJson json_rhat(double v) {
  return std::isinf(v) ? OrderedJson("inf") : json_number(v);
}

void add_labels(OrderedJson& summary, const Labels& labels) {
  if (!labels.coordinates.empty()) {
    summary["labels"] = OrderedJson::parse(coordinates_json(labels));
  }
  if (!labels.levels.empty()) summary["level_names"] = OrderedJson::parse(levels_json(labels));
}

void add_constraint(OrderedJson& json, const Target& target) {
  if (const Constraint* constraint = target.constraint()) json["constraint"] = constraint->text();
}

OrderedJson given_json(const GivenValues& given) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [i, level] : given.list()) object[std::to_string(i)] = level;
  return object;
}

OrderedJson parameters_json(const std::vector<Parameter>& parameters) {
  auto object = OrderedJson::object();
  for (const Parameter& p : parameters) {
    if (const double* number = std::get_if<double>(&p.value)) {
      object[p.name] = json_number(*number);
    } else {
      std::visit([&](const auto& v) { object[p.name] = v; }, p.value);
    }
  }
  return object;
}

OrderedJson warnings_json(const Warnings& warnings) {
  auto list = OrderedJson::array();
  for (const Warning& w : warnings) list.push_back({{"code", w.code}, {"sentence", w.sentence}});
  return list;
}

OrderedJson observables_json(const std::vector<ObservableSummary>& list) {
  auto json = OrderedJson::array();
  for (const ObservableSummary& s : list) {
    json.push_back({{"name", s.name},
                    {"mean", json_number(s.mean)},
                    {"sd", json_number(s.sd)},
                    {"mcse", json_number(s.mcse)},
                    {"ess", json_number(s.ess)},
                    {"rhat", json_rhat(s.rhat)}});
  }
  return json;
}

OrderedJson best_json(const std::optional<BestDraw>& best) {
  if (!best) return nullptr;
  return {{"logp", json_number(best->logp)},
          {"chain", best->chain},
          {"draw", best->draw},
          {"state", long_list("best.state")}};
}

std::vector<double> best_levels(const std::optional<BestDraw>& best) {
  if (!best) return {};
  return {best->state.begin(), best->state.end()};
}

std::vector<double> column(const std::vector<CoordinateSummary>& all,
                           double CoordinateSummary::*of) {
  std::vector<double> values;
  for (const CoordinateSummary& s : all) values.push_back(s.*of);
  return values;
}

void ClassLists::add(int number, const CoordinateSummary& summary) {
  for (const ClassSummary& c : summary.classes) {
    coordinate.push_back(number);
    level.push_back(c.level);
    probability.push_back(c.probability);
    mcse.push_back(c.mcse);
    ess.push_back(c.ess);
    rhat.push_back(c.rhat);
  }
}

void ClassLists::add_exact(const Domain& domain, const ExactAnswer& answer) {
  for (std::size_t k = exact.size(); k < level.size(); ++k) {
    const int begin = domain.score_begin(static_cast<int>(coordinate[k]));
    exact.push_back(answer.classes[static_cast<std::size_t>(begin + static_cast<int>(level[k]))]);
  }
}

OrderedJson ClassLists::json() const {
  OrderedJson j;
  for (const char* name : {"coordinate", "level", "probability", "mcse", "ess", "rhat"}) {
    j[name] = long_list(std::string("classes.") + name);
  }
  if (!exact.empty()) j["exact"] = long_list("classes.exact");
  return j;
}

void ClassLists::put_into(LongLists& lists) const {
  lists["classes.coordinate"] = {coordinate, true};
  lists["classes.level"] = {level, true};
  lists["classes.probability"] = probability;
  lists["classes.mcse"] = mcse;
  lists["classes.ess"] = ess;
  lists["classes.rhat"] = rhat;
  lists["classes.exact"] = exact;
}

ClassLists class_lists(const SampleResult& r) {
  ClassLists lists;
  for (std::size_t k = 0; k < r.summaries.size(); ++k) lists.add(r.watched[k], r.summaries[k]);
  if (r.exact && !lists.level.empty()) lists.add_exact(r.target->domain(), *r.exact);
  return lists;
}

}  // namespace saltus
