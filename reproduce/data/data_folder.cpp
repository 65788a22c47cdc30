#include "reproduce/data/data_folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "saltus/core/error.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus {
namespace {

const PublishedData& find_set(const std::string& name) {
  std::vector<std::string> names;
  for (const PublishedData& set : published_data()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw UsageError(
      fmt::format("there is no data set '{}'; known are {}", name, fmt::join(names, ", ")));
}

// These are packed as they are.
bool may_be_packed(const std::string& file) {
  return !file.ends_with(".npz") && !file.ends_with(".zip");
}

std::string named(const std::string& files) {
  std::vector<std::string> names = split_words(files);
  for (std::string& name : names) name += may_be_packed(name) ? " or .gz" : "";
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> missing_of(const std::string& files, const std::string& set,
                                    const std::filesystem::path& folder) {
  std::vector<std::string> names = split_words(files);
  std::erase_if(
      names, [&](const auto& name) { return look_for_data_file(set, name, folder).has_value(); });
  return names;
}

}  // namespace

std::optional<std::filesystem::path> look_for_data_file(const std::string& set,
                                                        const std::string& file,
                                                        const std::filesystem::path& folder) {
  if (folder.empty()) return std::nullopt;
  std::error_code ignored;
  for (const std::filesystem::path& place : {folder / set, folder}) {
    if (std::filesystem::exists(place / file, ignored)) return place / file;
    const std::filesystem::path packed = place / (file + ".gz");
    if (may_be_packed(file) && std::filesystem::exists(packed, ignored)) return packed;
  }
  return std::nullopt;
}

std::filesystem::path data_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* variable = std::getenv("SALTUS_DATA");
  return variable ? variable : "";
}

std::string missing_data_message(const std::string& set, const std::filesystem::path& folder) {
  const PublishedData& data = find_set(set);
  const std::string looked =
      folder.empty()
          ? std::string("no data folder was named (--data DIR, or the variable SALTUS_DATA)")
          : fmt::format("looked in '{}' and '{}' for {}", (folder / set).string(), folder.string(),
                        fmt::join(missing_of(data.files, set, folder), ", "));
  const std::string instead =
      data.instead.empty() ? "" : fmt::format(" (or instead: {})", named(data.instead));
  return fmt::format("the data set {} ({}) is missing: {}. Its files: {}{}. {}.", set, data.summary,
                     looked, named(data.files), instead, data.published);
}

std::filesystem::path find_data_file(const std::string& set, const std::string& file,
                                     const std::filesystem::path& folder) {
  const std::optional<std::filesystem::path> path = look_for_data_file(set, file, folder);
  if (!path) throw FileError(missing_data_message(set, folder), false);
  return *path;
}

void need_data(const std::string& set, const std::filesystem::path& folder) {
  const PublishedData& data = find_set(set);
  if (missing_of(data.files, set, folder).empty()) return;
  if (!data.instead.empty() && missing_of(data.instead, set, folder).empty()) return;
  throw FileError(missing_data_message(set, folder), false);
}

}  // namespace saltus
