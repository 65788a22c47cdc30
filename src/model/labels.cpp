#include "saltus/model/labels.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace saltus {
namespace {

using LabelJson = nlohmann::json;

// A label that is a text, without its quotes.
std::optional<std::string> text_of_label(const std::string& label) {
  if (!label.starts_with('"')) return std::nullopt;
  const LabelJson json = LabelJson::parse(label, nullptr, false);
  if (!json.is_string()) return std::nullopt;
  return json.get<std::string>();
}

bool is_texts(const LabelJson& list) {
  return list.is_array() && !list.empty() &&
         std::ranges::all_of(list, [](const LabelJson& name) { return name.is_string(); });
}

std::optional<int> place_of(const auto found, const auto& list) {
  if (found == list.end()) return std::nullopt;
  return static_cast<int>(found - list.begin());
}

}  // namespace

const std::vector<std::string>& level_names(const Labels& labels, int coordinate) {
  static const std::vector<std::string> none;
  if (labels.levels.empty()) return none;
  if (labels.levels.size() == 1) return labels.levels.front();
  return labels.levels.at(static_cast<std::size_t>(coordinate));
}

std::string coordinate_name(const Labels& labels, int coordinate) {
  if (labels.coordinates.empty()) return std::to_string(coordinate);
  const std::string& label = labels.coordinates.at(static_cast<std::size_t>(coordinate));
  return text_of_label(label).value_or(label);
}

std::string level_name(const Labels& labels, int coordinate, int level) {
  const std::vector<std::string>& names = level_names(labels, coordinate);
  const auto at = static_cast<std::size_t>(level);
  return at < names.size() ? names[at] : std::to_string(level);
}

std::optional<int> coordinate_named(const Labels& labels, std::string_view name) {
  const auto& all = labels.coordinates;
  return place_of(
      std::ranges::find_if(all, [&](const std::string& l) { return text_of_label(l) == name; }),
      all);
}

std::optional<int> level_named(const Labels& labels, int coordinate, std::string_view name) {
  const auto& all = level_names(labels, coordinate);
  return place_of(std::ranges::find(all, name), all);
}

std::string coordinates_json(const Labels& labels) {
  std::string text = "[";
  for (const std::string& label : labels.coordinates) text += (text.size() > 1 ? "," : "") + label;
  return text + "]";
}

std::string levels_json(const Labels& labels) {
  if (labels.levels.size() == 1) return LabelJson(labels.levels.front()).dump();
  return LabelJson(labels.levels).dump();
}

Labels labels_from_json(const std::string& coordinates, const std::string& levels, int dim) {
  const auto n = static_cast<std::size_t>(dim);
  Labels labels;
  const LabelJson names = LabelJson::parse(coordinates, nullptr, false);
  if (names.is_array() && names.size() == n) {
    for (const LabelJson& name : names) labels.coordinates.push_back(name.dump());
  }
  const LabelJson lists = LabelJson::parse(levels, nullptr, false);
  if (is_texts(lists)) {
    labels.levels.push_back(lists.get<std::vector<std::string>>());
  } else if (lists.is_array() && lists.size() == n && std::ranges::all_of(lists, is_texts)) {
    labels.levels = lists.get<std::vector<std::vector<std::string>>>();
  }
  return labels;
}

}  // namespace saltus
