// What the coordinates of a model and their levels are called: include this to show names in place
// of numbers, or to find what a name stands for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saltus {

struct Labels {
  // As JSON texts: 7, "a", [0,1]. Empty: coordinates are called 0 to n - 1.
  std::vector<std::string> coordinates;
  // Names of the levels: a list for each coordinate, or one for all of them. Empty: levels are
  // called by their index.
  std::vector<std::vector<std::string>> levels;

  bool empty() const { return coordinates.empty() && levels.empty(); }
  bool operator==(const Labels&) const = default;
};

// The names of a coordinate's levels; empty where they have none.
const std::vector<std::string>& level_names(const Labels& labels, int coordinate);

// A text without its quotes; the number where there is no name.
std::string coordinate_name(const Labels& labels, int coordinate);
std::string level_name(const Labels& labels, int coordinate, int level);

// The coordinate whose label is this text, and the level of a coordinate with this name. Labels
// that are numbers are no names: a number always counts coordinates from 0.
std::optional<int> coordinate_named(const Labels& labels, std::string_view name);
std::optional<int> level_named(const Labels& labels, int coordinate, std::string_view name);

// JSON texts of both parts: a list of labels; a list of names, or a list of such for each
// coordinate.
std::string coordinates_json(const Labels& labels);
std::string levels_json(const Labels& labels);
// Reads such texts; each may be empty. Leaves out what does not fit `dim` coordinates.
Labels labels_from_json(const std::string& coordinates, const std::string& levels, int dim);

}  // namespace saltus
