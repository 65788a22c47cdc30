// Keeps the finished cells of an experiment, so that a later call need not compute them again.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>
#include <utility>

#include "io/bytes/byte_file.hpp"
#include "reproduce/experiment.hpp"

namespace saltus::reproduce {

// One file for each cell in a folder (empty: none are kept). A Cell has a name for its file,
// Cell::file_of(key), a list of members with their names, Cell::fields(), and sound(), which is
// false where they do not fit together.
template <class Cell>
class KeptCells {
 public:
  explicit KeptCells(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Nothing when there is no such cell, or one of another version.
  std::optional<Cell> find(const Json& key) const {
    if (folder_.empty()) return std::nullopt;
    std::ifstream in(folder_ / Cell::file_of(key));
    const Json json = Json::parse(in, nullptr, false);
    if (!json.is_object() || json.value("key", Json()) != key) return std::nullopt;
    Cell cell;
    try {
      const auto read = [&](const auto& field) { json.at(field.first).get_to(cell.*field.second); };
      std::apply([&](const auto&... field) { (read(field), ...); }, Cell::fields());
    } catch (const Json::exception&) {
      return std::nullopt;
    }
    return cell.sound() ? std::optional(std::move(cell)) : std::nullopt;
  }

  // The file is there whole or not at all. Throws FileError.
  void keep(const Json& key, const Cell& cell) const {
    if (folder_.empty()) return;
    Json json;
    const auto write = [&](const auto& field) { json[field.first] = cell.*field.second; };
    std::apply([&](const auto&... field) { (write(field), ...); }, Cell::fields());
    json["key"] = key;
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    replace_file(folder_ / Cell::file_of(key),
                 json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // The cell as it was kept, or as make() makes it; nothing when there is no time for another one.
  template <class Make>
  std::optional<Cell> get(const Context& context, const Json& key, Make make) {
    if (std::optional<Cell> finished = find(key)) return finished;
    const double begun = context.seconds(), limit = context.options().time;
    if (limit > 0 && begun + longest_ > limit) return ++missing_, std::nullopt;
    Cell cell = make();
    longest_ = std::max(longest_, context.seconds() - begun);
    keep(key, cell);
    return cell;
  }
  int missing() const { return missing_; }  // for want of time

 private:
  std::filesystem::path folder_;
  double longest_ = 0;  // seconds of a cell that was made
  int missing_ = 0;
};

}  // namespace saltus::reproduce
