// Keeps the finished cells of an experiment, so that a later call need not compute them again.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "reproduce/experiment.hpp"
#include "saltus/core/error.hpp"

namespace saltus::reproduce {

// The cell that `file` keeps under `key`; null where there is none.
Json read_cell(const std::filesystem::path& file, const Json& key);
// The file is there whole or not at all. Throws FileError.
void write_cell(const std::filesystem::path& file, const Json& key, Json cell);

// One file for each cell in a folder (empty: none are kept). A Cell has to_json, from_json, which
// may throw DataError, and a name for its file, Cell::file_of(key).
template <class Cell>
class KeptCells {
 public:
  explicit KeptCells(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Nothing when there is no such cell, or one of another version.
  std::optional<Cell> find(const Json& key) const {
    if (folder_.empty()) return std::nullopt;
    const Json cell = read_cell(folder_ / Cell::file_of(key), key);
    if (cell.is_null()) return std::nullopt;
    try {
      return cell.get<Cell>();
    } catch (const Json::exception&) {
    } catch (const DataError&) {
    }
    return std::nullopt;
  }

  void keep(const Json& key, const Cell& cell) const {
    if (!folder_.empty()) write_cell(folder_ / Cell::file_of(key), key, cell);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace saltus::reproduce
