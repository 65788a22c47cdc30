#include "cli/learn/description.hpp"

#include "io/bytes/strict_json.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {

void read_description(const std::string& text, const std::string& source,
                      const std::function<void(JsonFields& description)>& read) {
  const auto misfit = [&](const std::exception& e) {
    return DataError(source + ": the checkpoint's description does not fit (" + e.what() + ")");
  };
  try {
    const nlohmann::json json = parse_strictly(text, source);
    JsonFields description(json, source);
    if (!description.has("learn")) throw DataError(source + ": not a checkpoint of 'saltus learn'");
    const std::string made_by = description.string("version");
    if (made_by != version()) {
      throw DataError(source + ": saved by saltus " + made_by + ", but this is " + version());
    }
    read(description);
  } catch (const nlohmann::json::exception& e) {
    throw misfit(e);
  } catch (const UsageError& e) {
    throw misfit(e);
  }
}

bool was_given(const CLI::App& command, const char* option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found && found->count() > 0;
}

void refuse_settled(const CLI::App& command, std::initializer_list<const char*> options,
                    const std::string& where) {
  for (const char* option : options) {
    if (was_given(command, option)) {
      throw UsageError(std::string(option) + " is settled by the checkpoint " + where +
                       ": leave it out");
    }
  }
}

}  // namespace saltus::cli
