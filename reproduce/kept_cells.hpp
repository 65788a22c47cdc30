// Keeps the finished cells of an experiment, so that a later call need not compute them again; and
// where, and for how long, they were computed, over all calls that worked on them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/bytes/byte_file.hpp"
#include "reproduce/experiment.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus::reproduce {

// One file for each cell in a folder (empty: none are kept). A Cell has a name for its file,
// Cell::file_of(key), the members to be kept, kept(), their names, Cell::kNames, and sound(), which
// is false where they do not fit together.
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
    const std::vector<std::string> names = split_words(Cell::kNames);
    try {
      std::apply([&, name = names.begin()](
                     auto&... member) mutable { (json.at(*name++).get_to(member), ...); },
                 cell.kept());
    } catch (const Json::exception&) {
      return std::nullopt;
    }
    return cell.sound() ? std::optional(std::move(cell)) : std::nullopt;
  }

  // The file is there whole or not at all. Throws FileError.
  void keep(const Json& key, Cell cell) const {
    if (folder_.empty()) return;
    Json json;
    const std::vector<std::string> names = split_words(Cell::kNames);
    std::apply(
        [&, name = names.begin()](auto&... member) mutable { ((json[*name++] = member), ...); },
        cell.kept());
    json["key"] = key;
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    replace_file(folder_ / Cell::file_of(key),
                 json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // The cell as it was kept, or as make() makes it; nothing when there is no time for another one.
  // May be called by several threads at a time.
  template <class Make>
  std::optional<Cell> get(const Context& context, const Json& key, Make make) {
    if (std::optional<Cell> finished = find(key)) return finished;
    const double begun = context.seconds(), limit = context.options().time;
    if (limit > 0 && !fits(begun, limit)) return std::nullopt;
    Cell cell = make();
    keep(key, cell);
    const std::lock_guard lock(mutex_);
    longest_ = std::max(longest_, context.seconds() - begun);
    return cell;
  }
  int missing() const { return missing_; }  // for want of time

 private:
  bool fits(double begun, double limit) {
    const std::lock_guard lock(mutex_);
    if (begun + longest_ <= limit) return true;
    return ++missing_, false;
  }

  std::filesystem::path folder_;
  std::mutex mutex_;    // of what follows
  double longest_ = 0;  // seconds of a cell that was made
  int missing_ = 0;
};

struct Ledger {
  std::vector<std::string> machines;
  double seconds = 0;

  std::string machine() const;  // all of them
};

// When something in the folder of finished parts last changed; the ledger itself does not count.
std::filesystem::file_time_type last_change(const std::filesystem::path& parts);

// Adds a call to the ledger in the folder of parts; one that computed nothing leaves it as it is.
Ledger add_to_ledger(const std::filesystem::path& parts, const std::string& machine, double seconds,
                     bool computed);

}  // namespace saltus::reproduce
