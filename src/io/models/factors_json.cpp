#include "io/models/factors_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/models/labels_json.hpp"

namespace saltus {
namespace {

using FactorJson = nlohmann::json;

constexpr std::int64_t kMostTableEntries = std::int64_t{1} << 31;
constexpr double kLargestEntry = 1e30;
constexpr double kNever = -std::numeric_limits<double>::infinity();

int last_coordinate(const FactorsModel& model) {
  return static_cast<int>(model.levels.size()) - 1;
}

std::string within(const std::string& where, std::size_t i) {
  return where + "[" + std::to_string(i) + "]";
}

void read_levels(JsonFields& fields, FactorsModel& model) {
  bool several = false;
  for (const FactorJson& entry : fields.array(fields.at("levels"), "levels")) {
    const std::string where = within("levels", model.levels.size());
    model.levels.push_back(fields.size(entry, where, 1, Domain::kMaxLevels));
    several = several || model.levels.back() > 1;
  }
  if (model.levels.empty()) fields.refuse("levels", "is empty");
  if (!several) fields.refuse("levels", "has only coordinates of one level: nothing can be drawn");
}

// Reads the scope and returns the number of entries that belong to it.
std::int64_t read_scope(const JsonFields& fields, const FactorJson& over, const std::string& where,
                        const FactorsModel& model, std::vector<std::int32_t>& scope) {
  scope.clear();
  std::int64_t entries = 1;
  for (const FactorJson& value : fields.array(over, where)) {
    const int i = fields.size(value, within(where, scope.size()), 0, last_coordinate(model));
    if (std::find(scope.begin(), scope.end(), i) != scope.end()) {
      fields.refuse(where, fmt::format("names coordinate {} twice", i));
    }
    scope.push_back(i);
    entries *= model.levels[static_cast<std::size_t>(i)];
    if (entries >= kMostTableEntries) {
      fields.refuse(where,
                    fmt::format("needs a table of {} entries or more; at most {} are possible",
                                entries, kMostTableEntries - 1));
    }
  }
  return entries;
}

double read_log(const JsonFields& fields, const FactorJson& value, const std::string& where,
                std::size_t i) {
  if (value.is_string() && value.get_ref<const std::string&>() == "-inf") return kNever;
  const double v = value.is_number() ? value.get<double>() : NAN;
  if (std::abs(v) < kLargestEntry) return v;
  if (std::isfinite(v)) {
    fields.refuse(within(where, i),
                  fmt::format("is {}; entries lie within 1e30 of 0, or are \"-inf\"", v));
  }
  fields.number(value, within(where, i));
  return v;
}

struct FactorRoom {
  std::vector<std::int32_t> scope;
  std::vector<double> log;
  std::vector<FactorsModel::Literal> clause;
};

void read_table(const JsonFields& fields, const FactorJson& factor, const std::string& where,
                FactorRoom& room, FactorsModel& model) {
  const std::int64_t size = read_scope(fields, factor["over"], where + ".over", model, room.scope);
  const FactorJson& log = fields.array(factor["log"], where + ".log");
  if (log.size() != static_cast<std::size_t>(size)) {
    fields.refuse(
        where + ".log",
        fmt::format("has {} entries; the levels of its coordinates make {}", log.size(), size));
  }
  room.log.clear();
  for (const FactorJson& value : log) {
    room.log.push_back(read_log(fields, value, where + ".log", room.log.size()));
  }
  if (*std::max_element(room.log.begin(), room.log.end()) == kNever) {
    fields.refuse(where + ".log", "is \"-inf\" everywhere: it forbids every state");
  }
  model.add_table(room.scope, room.log);
}

void read_clause(const JsonFields& fields, const FactorJson& factor, const std::string& where,
                 FactorRoom& room, FactorsModel& model) {
  room.clause.clear();
  for (const FactorJson& literal : fields.array(factor["clause"], where + ".clause")) {
    const std::string place = within(where + ".clause", room.clause.size());
    if (!literal.is_array() || literal.size() != 2) {
      fields.refuse(place, "is not a pair [coordinate, level]");
    }
    const int i = fields.size(literal[0], place + "[0]", 0, last_coordinate(model));
    const int levels = model.levels[static_cast<std::size_t>(i)];
    const int level = fields.size(literal[1], place + "[1]", 0, levels - 1);
    room.clause.push_back({i, static_cast<Symbol>(level)});
  }
  if (factor.contains("hard")) {
    if (factor["hard"] != true) fields.refuse(where + ".hard", "is not true");
    if (room.clause.empty()) fields.refuse(where + ".clause", "is empty: it forbids every state");
    return model.add_clause(room.clause, -kNever);
  }
  const double weight = fields.number(factor["weight"], where + ".weight");
  if (!(weight >= 0 && weight < kLargestEntry)) {
    fields.refuse(where + ".weight", fmt::format("is {}; it must be from 0 to 1e30", weight));
  }
  model.add_clause(room.clause, weight);
}

void read_factor(const JsonFields& fields, const FactorJson& factor, std::size_t number,
                 FactorRoom& room, FactorsModel& model) {
  const std::string where = within("factors", number);
  if (!factor.is_object()) fields.refuse(where, "is not an object");
  const auto is = [&](const char* a, const char* b) {
    return factor.size() == 2 && factor.contains(a) && factor.contains(b);
  };
  if (is("over", "log")) return read_table(fields, factor, where, room, model);
  if (is("clause", "weight") || is("clause", "hard")) {
    return read_clause(fields, factor, where, room, model);
  }
  fields.refuse(where, "has other fields than over and log, clause and weight, or clause and hard");
}

std::string log_list(std::span<const double> values) {
  std::string text = "[";
  for (const double v : values) {
    if (text.size() > 1) text += ",";
    text += v == kNever ? "\"-inf\"" : fmt::format("{}", v);
  }
  return text + "]";
}

}  // namespace

FactorsModel read_factors(JsonFields& fields) {
  FactorsModel model;
  read_levels(fields, model);
  FactorRoom room;
  std::size_t number = 0;
  for (const FactorJson& factor : fields.array(fields.at("factors"), "factors")) {
    read_factor(fields, factor, number++, room, model);
  }
  if (fields.has("constant")) model.constant = fields.number("constant");
  model.labels = read_labels(fields, model.levels);
  return model;
}

std::string factors_json(const FactorsModel& model) {
  std::string factors;
  const auto begin = [&] { factors += factors.empty() ? "\n  " : ",\n  "; };
  for (std::size_t t = 0; t < model.tables(); ++t) {
    begin();
    factors += fmt::format("{{\"over\": [{}], \"log\": {}}}", fmt::join(model.scope(t), ","),
                           log_list(model.table(t)));
  }
  for (std::size_t c = 0; c < model.clauses(); ++c) {
    begin();
    factors += "{\"clause\": [";
    for (const auto& l : model.clause(c)) {
      factors += fmt::format("{}[{},{}]", factors.back() == '[' ? "" : ",", l.coordinate, l.level);
    }
    const bool hard = model.weights[c] == -kNever;
    factors += hard ? "], \"hard\": true}" : fmt::format("], \"weight\": {}}}", model.weights[c]);
  }
  return fmt::format(
      "{{\"model\": \"factors\", \"levels\": [{}],\n \"factors\": [{}],\n \"constant\": {}{}}}",
      fmt::join(model.levels, ","), factors, model.constant, labels_fields(model.labels));
}

}  // namespace saltus
