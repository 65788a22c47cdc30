// Binary quadratic models as dimod writes them as JSON: bqm_schema 3.0.0 and 2.0.0.
#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "io/models/json_fields.hpp"
#include "io/problems/dimod.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using DimodJson = nlohmann::json;
constexpr std::uint64_t kLongestJson = std::uint64_t{1} << 34;
constexpr int kMostDimodVariables = 100'000'000;

// The same for labels that Python calls equal: 1 and 1.0.
std::string label_key(const DimodJson& label, const std::string& source) {
  if (label.is_array()) {
    std::string key = "[";
    for (const DimodJson& part : label) key += label_key(part, source) + ",";
    return key + "]";
  }
  if (label.is_number_float()) {
    const double v = label.get<double>();
    if (v == std::trunc(v) && std::abs(v) < 1e15) return std::to_string(std::llround(v));
  }
  if (label.is_number() || label.is_string()) return label.dump();
  throw DataError(source + ": a label is " + label.dump().substr(0, 40) +
                  "; expected a number, a text or a list of such");
}

const DimodJson& list_in(JsonFields& fields, const std::string& field) {
  return fields.array(fields.at(field), field);
}

// A count that may be missing.
void check_count(JsonFields& fields, const std::string& field, std::size_t n) {
  if (!fields.has(field)) return;
  const int count = fields.size(field, 0, INT32_MAX);
  if (static_cast<std::size_t>(count) != n) {
    fields.refuse(field, fmt::format("is {}, but the lists have {} entries", count, n));
  }
}

void check_schema(JsonFields& fields, const std::string& source) {
  std::string schema = "1.0.0";
  const DimodJson& version = fields.at("version");
  if (version.is_object() && version.contains("bqm_schema") && version["bqm_schema"].is_string()) {
    schema = version["bqm_schema"].get<std::string>();
  }
  if (schema != "2.0.0" && schema != "3.0.0") {
    throw DataError(source + ": its bqm_schema is " + in_quotes(schema) +
                    "; 2.0.0 and 3.0.0 are read (load and save it with a newer dimod)");
  }
  if (fields.has("use_bytes") && fields.boolean("use_bytes")) {
    fields.refuse("use_bytes", "is true: its numbers are bytes; save it with use_bytes=False");
  }
}

std::string entry_of(const char* field, std::size_t k) {
  return std::string(field) + "[" + std::to_string(k) + "]";
}

}  // namespace

Labels dimod_labels(const DimodJson& list, std::size_t n, const std::string& source) {
  if (!list.is_array() || list.size() != n) {
    throw DataError(
        fmt::format("{}: expected a list of {} labels, one for each variable", source, n));
  }
  std::vector<std::string> labels;
  std::unordered_set<std::string> seen;
  bool counted = true;
  for (const DimodJson& label : list) {
    std::string key = label_key(label, source);
    counted = counted && key == std::to_string(labels.size());
    labels.push_back(label.dump());
    if (!seen.insert(std::move(key)).second) {
      throw DataError(source + ": the label " + labels.back().substr(0, 40) + " is given twice");
    }
  }
  if (counted) return {};
  return {std::move(labels), {}};
}

bool dimod_spins(const DimodJson& vartype, const std::string& field, const std::string& source) {
  if (vartype == "SPIN") return true;
  if (vartype == "BINARY") return false;
  throw DataError(source + ": " + field + " is " + vartype.dump().substr(0, 40) +
                  "; expected \"SPIN\" or \"BINARY\"");
}

Model read_dimod_json(const ByteSource& source, const ProblemOptions& options) {
  const DimodJson json = parse_strictly(text_of(source, kLongestJson), source.name);
  JsonFields fields(json, source.name);
  check_schema(fields, source.name);
  PairProblem p;
  p.spins = dimod_spins(fields.at("variable_type"), "variable_type", source.name);
  p.offset = fields.number("offset");
  p.linear = fields.numbers("linear_biases");
  const std::size_t n = p.linear.size();
  if (n == 0 || n > kMostDimodVariables)
    fields.refuse("linear_biases", "has no entries, or too many");
  check_count(fields, "num_variables", n);
  p.labels = dimod_labels(fields.at("variable_labels"), n, source.name + ": variable_labels");
  const DimodJson& biases = list_in(fields, "quadratic_biases");
  const DimodJson &heads = list_in(fields, "quadratic_head"),
                  &tails = list_in(fields, "quadratic_tail");
  const std::size_t m = biases.size();
  if (heads.size() != m || tails.size() != m) {
    fields.refuse("quadratic_biases", fmt::format("has {} entries, but quadratic_head has {} and "
                                                  "quadratic_tail {}",
                                                  m, heads.size(), tails.size()));
  }
  check_count(fields, "num_interactions", m);
  p.pairs.reserve(m);
  for (std::size_t k = 0; k < m; ++k) {
    const int last = p.size() - 1;
    const int i = fields.size(heads[k], entry_of("quadratic_head", k), 0, last);
    const int j = fields.size(tails[k], entry_of("quadratic_tail", k), 0, last);
    if (i == j)
      fields.refuse(entry_of("quadratic_head", k), fmt::format("couples {} to itself", i));
    p.pairs.push_back({i, j, fields.number(biases[k], entry_of("quadratic_biases", k))});
  }
  add_up(p.pairs);
  return energy_model(std::move(p), options);
}

}  // namespace saltus
