#include "cli/option_checks.hpp"

#include <charconv>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus::cli {

CLI::Validator finite_number(double least) {
  return CLI::Validator(
      [least](const std::string& text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size();
        const bool good = whole && std::isfinite(value) && value >= least;
        return good ? "" : "'" + text + "' is not a number that is possible here";
      },
      "NUMBER");
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError("--seed " + text + ": expected a whole number from 0 to 2^64 - 1");
  }
  return seed;
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
