#include "io/models/labels_json.hpp"

#include <fmt/format.h>

#include <unordered_set>

namespace saltus {
namespace {

using NamesJson = nlohmann::json;

std::string place(const std::string& where, std::size_t i) {
  return where + "[" + std::to_string(i) + "]";
}

// Numbers, texts and lists of such; `names` are texts alone.
std::vector<std::string> read_coordinates(JsonFields& fields, std::size_t n) {
  const bool names = fields.has("names");
  if (names && fields.has("labels")) {
    fields.refuse("names", "stands beside labels, which is the same: one of them is enough");
  }
  const std::string field = names ? "names" : "labels";
  std::vector<std::string> labels;
  if (!fields.has(field)) return labels;
  std::unordered_set<std::string> seen;
  for (const NamesJson& entry : fields.array(fields.at(field), field)) {
    const std::string where = place(field, labels.size());
    const bool fits = entry.is_string() || (!names && (entry.is_number() || entry.is_array()));
    if (!fits) fields.refuse(where, names ? "is not a text" : "is not a number, a text or a list");
    labels.push_back(entry.dump());
    if (!seen.insert(labels.back()).second) fields.refuse(where, "repeats " + labels.back());
  }
  if (labels.size() != n) {
    fields.refuse(field, fmt::format("has {} entries; there are {} coordinates", labels.size(), n));
  }
  return labels;
}

// Texts, as many as there are levels, all different.
std::vector<std::string> read_names(const JsonFields& fields, const NamesJson& list,
                                    const std::string& where) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  for (const NamesJson& name : fields.array(list, where)) {
    if (!name.is_string()) fields.refuse(place(where, names.size()), "is not a text");
    names.push_back(name.get<std::string>());
    if (!seen.insert(names.back()).second) {
      fields.refuse(place(where, names.size() - 1), "repeats " + name.dump());
    }
  }
  return names;
}

void check_count(const JsonFields& fields, const std::vector<std::string>& names,
                 const std::string& where, std::size_t coordinate, int levels) {
  if (names.size() == static_cast<std::size_t>(levels)) return;
  fields.refuse(where, fmt::format("has {} names; coordinate {} has {} levels", names.size(),
                                   coordinate, levels));
}

// A list of lists, or one list for all coordinates.
std::vector<std::vector<std::string>> read_levels(JsonFields& fields, std::span<const int> levels) {
  const std::string field = "level_names";
  std::vector<std::vector<std::string>> all;
  if (!fields.has(field)) return all;
  const NamesJson& lists = fields.array(fields.at(field), field);
  if (lists.empty()) fields.refuse(field, "is empty");
  if (!lists[0].is_array()) {
    all.push_back(read_names(fields, lists, field));
    for (std::size_t i = 0; i < levels.size(); ++i)
      check_count(fields, all[0], field, i, levels[i]);
    return all;
  }
  if (lists.size() != levels.size()) {
    fields.refuse(
        field, fmt::format("has {} lists; there are {} coordinates", lists.size(), levels.size()));
  }
  for (const NamesJson& list : lists) {
    const std::size_t i = all.size();
    all.push_back(read_names(fields, list, place(field, i)));
    check_count(fields, all[i], place(field, i), i, levels[i]);
  }
  return all;
}

}  // namespace

std::string labels_fields(const Labels& labels) {
  std::string text;
  if (!labels.coordinates.empty()) text += ",\n \"labels\": " + coordinates_json(labels);
  if (!labels.levels.empty()) text += ",\n \"level_names\": " + levels_json(labels);
  return text;
}

Labels read_labels(JsonFields& fields, std::span<const int> levels) {
  return {read_coordinates(fields, levels.size()), read_levels(fields, levels)};
}

}  // namespace saltus
