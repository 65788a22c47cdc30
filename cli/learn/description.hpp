// What the options of 'saltus learn rbm', 'ising' and 'ebm' share: the description of a checkpoint,
// and which options a resumed run refuses.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <string>

#include "io/models/json_fields.hpp"

namespace saltus::cli {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

// Hands the fields of a checkpoint's description to `read`. Throws DataError where another version
// saved it, or `read` refuses a value.
void read_description(const std::string& text, const std::string& source,
                      const std::function<void(JsonFields& description)>& read);

bool was_given(const CLI::App& command, const char* option);

// Throws UsageError where one of the options was given, which the checkpoint `where` settles.
void refuse_settled(const CLI::App& command, std::initializer_list<const char*> options,
                    const std::string& where);

}  // namespace saltus::cli
