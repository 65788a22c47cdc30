#include "io/models/graph_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace saltus {
namespace {

constexpr int kMostGraphVertices = 1 << 24;
constexpr int kMostGraphLevels = 4096;

std::string graph_place(const std::string& field, std::size_t k) {
  return fmt::format("{}[{}]", field, k);
}

// [i, j], or [i, j, weight].
Coupling read_edge(const JsonFields& fields, const nlohmann::json& entry, const std::string& where,
                   int n) {
  if (!entry.is_array() || entry.size() < 2 || entry.size() > 3) {
    fields.refuse(where, "is not a pair [i, j] or a triple [i, j, weight]");
  }
  const int i = fields.size(entry[0], graph_place(where, 0), 0, n - 1);
  const int j = fields.size(entry[1], graph_place(where, 1), 0, n - 1);
  if (i == j) fields.refuse(where, fmt::format("joins vertex {} to itself", i));
  return {i, j, entry.size() == 3 ? fields.number(entry[2], graph_place(where, 2)) : 1.0};
}

void check_edges_differ(const JsonFields& fields, const std::vector<Coupling>& edges) {
  std::vector<std::pair<std::pair<int, int>, std::size_t>> pairs;
  for (const Coupling& e : edges) pairs.push_back({std::minmax(e.i, e.j), pairs.size()});
  std::ranges::sort(pairs);
  for (std::size_t k = 1; k < pairs.size(); ++k) {
    if (pairs[k].first != pairs[k - 1].first) continue;
    fields.refuse(
        graph_place("edges", pairs[k].second),
        fmt::format("repeats the pair ({}, {})", pairs[k].first.first, pairs[k].first.second));
  }
}

// A number for each level; zeros where the field is missing.
std::vector<double> level_numbers(JsonFields& fields, const char* field, int levels) {
  if (!fields.has(field)) return std::vector<double>(static_cast<std::size_t>(levels));
  std::vector<double> numbers = fields.numbers(field);
  if (numbers.size() != static_cast<std::size_t>(levels)) {
    fields.refuse(field,
                  fmt::format("has {} entries; there are {} levels", numbers.size(), levels));
  }
  return numbers;
}

std::vector<double> read_pair_table(JsonFields& fields, int levels) {
  const auto size = static_cast<std::size_t>(levels);
  const nlohmann::json& rows = fields.array(fields.at("pair"), "pair");
  if (rows.size() != size) {
    fields.refuse("pair", fmt::format("has {} rows; there are {} levels", rows.size(), levels));
  }
  std::vector<double> table;
  for (std::size_t a = 0; a < size; ++a) {
    const std::vector<double> row = fields.numbers(rows[a], graph_place("pair", a));
    if (row.size() != size) {
      fields.refuse(graph_place("pair", a),
                    fmt::format("has {} entries; there are {} levels", row.size(), levels));
    }
    for (std::size_t b = 0; b < a; ++b) {
      if (row[b] == table[b * size + a]) continue;
      fields.refuse(graph_place(graph_place("pair", a), b),
                    fmt::format("is {}, and pair[{}][{}] is {}; both must be equal", row[b], b, a,
                                table[b * size + a]));
    }
    table.insert(table.end(), row.begin(), row.end());
  }
  return table;
}

std::string number_list(std::span<const double> numbers) {
  std::string text = "[";
  for (const double v : numbers) text += (text.size() > 1 ? "," : "") + fmt::format("{}", v);
  return text + "]";
}

}  // namespace

GraphModel read_graph_json(JsonFields& fields) {
  GraphModel model;
  model.n = fields.size("n", 1, kMostGraphVertices);
  model.levels = fields.has("levels") ? fields.size("levels", 2, kMostGraphLevels) : 2;
  for (const nlohmann::json& entry : fields.array(fields.at("edges"), "edges")) {
    model.edges.push_back(
        read_edge(fields, entry, graph_place("edges", model.edges.size()), model.n));
  }
  check_edges_differ(fields, model.edges);
  model.pair = read_pair_table(fields, model.levels);
  model.linear = level_numbers(fields, "linear", model.levels);
  model.square = level_numbers(fields, "square", model.levels);
  if (fields.has("centre")) model.centre = fields.number("centre");
  if (fields.has("constant")) model.constant = fields.number("constant");
  return model;
}

std::string graph_json(const GraphModel& m) {
  std::string edges = "[", pair = "[";
  for (const Coupling& e : m.edges) {
    edges += fmt::format("{}[{},{}", edges.size() > 1 ? "," : "\n  ", e.i, e.j);
    edges += e.weight == 1 ? "]" : fmt::format(",{}]", e.weight);
  }
  const auto levels = static_cast<std::size_t>(m.levels);
  for (std::size_t k = 0; k < levels; ++k) {
    pair += (k ? "," : "") + number_list(std::span(m.pair).subspan(k * levels, levels));
  }
  return fmt::format(
      "{{\"model\": \"graph\", \"n\": {}, \"levels\": {},\n \"pair\": {}],\n \"linear\": {},\n "
      "\"square\": {}, \"centre\": {}, \"constant\": {},\n \"edges\": {}]}}",
      m.n, m.levels, pair, number_list(m.linear), number_list(m.square), m.centre, m.constant,
      edges);
}

}  // namespace saltus
