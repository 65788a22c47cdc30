#include "option_checks.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "saltus/core/error.hpp"

namespace saltus::cli {

void check_place(const std::filesystem::path& file) {
  std::error_code ignored;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(file, ignored)) {
    throw FileError("cannot write " + file.string() + ": it is a folder", true);
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw FileError("cannot write " + file.string() + ": " + std::strerror(errno), true);
  }
}

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

}  // namespace saltus::cli
