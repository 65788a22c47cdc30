// Reading what a checkpoint says of the work that it holds: JSON with the program's version and
// the kind of work.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/number_text.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/version.hpp"

namespace saltus {

inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

inline std::uint64_t whole_number(JsonFields& d, const char* field, std::int64_t low,
                                  std::int64_t high = kMostSteps) {
  return static_cast<std::uint64_t>(d.integer(d.at(field), field, low, high));
}

// A seed is text: JSON numbers do not hold 64 bits.
inline std::uint64_t seed_in(JsonFields& d) {
  const auto seed = number_in<std::uint64_t>(d.string("seed"));
  if (!seed) d.refuse("seed", "is not a number");
  return *seed;
}

// read(JsonFields&) makes the request. Throws DataError, naming the file, for a checkpoint of
// another kind of work, of another version, or whose fields do not fit.
template <class Request, class F>
Request read_description(const std::string& file, const char* kind, F&& read) {
  const std::string text = read_checkpoint(file).description;
  try {
    const nlohmann::json json = parse_strictly(text, file);
    JsonFields d(json, file);
    if (const std::string made_by = d.string("version"); made_by != version()) {
      throw DataError(file + ": saved by saltus " + made_by + ", but this is " + version());
    }
    if (!d.has(kind)) throw DataError(file + ": not a checkpoint of the kind " + kind);
    return read(d);
  } catch (const nlohmann::json::exception& e) {
    throw DataError(file + ": the checkpoint's description does not fit (" + e.what() + ")");
  }
}

}  // namespace saltus
