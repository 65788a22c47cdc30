#include "saltus/sampler/settings.hpp"

#include <fstream>
#include <iterator>

#include "core/number_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& value,
                         const std::string& wanted) {
  throw UsageError(key + "=" + value + ": " + key + " must be " + wanted);
}

// Numbers separated by commas, blanks or line ends; nothing when the text holds anything else.
std::optional<std::vector<double>> parse_list(std::string_view text) {
  std::vector<double> values;
  const std::string_view separators = ", \t\r\n";
  std::size_t at = 0;
  while ((at = text.find_first_not_of(separators, at)) != std::string_view::npos) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const auto value = number_in<double>(text.substr(at, end - at));
    if (!value) return std::nullopt;
    values.push_back(*value);
    at = end;
  }
  return values;
}

}  // namespace

std::optional<std::string> find_setting(const Settings& settings, const std::string& key) {
  const auto it = settings.find(key);
  return it == settings.end() ? std::nullopt : std::optional(it->second);
}

std::optional<double> number_setting(const Settings& settings, const std::string& key) {
  const auto text = find_setting(settings, key);
  if (!text) return std::nullopt;
  const auto value = number_in<double>(*text);
  if (!value || *value != *value) refuse(key, *text, "a number");
  return value;
}

std::optional<int> integer_setting(const Settings& settings, const std::string& key) {
  const auto text = find_setting(settings, key);
  if (!text) return std::nullopt;
  const auto value = number_in<int>(*text);
  if (!value || *value < 1) refuse(key, *text, "a whole number of at least 1");
  return value;
}

std::optional<bool> switch_setting(const Settings& settings, const std::string& key) {
  const auto text = find_setting(settings, key);
  if (!text) return std::nullopt;
  if (*text == "true") return true;
  if (*text == "false") return false;
  refuse(key, *text, "true or false");
}

int choice_setting(const Settings& settings, const std::string& key,
                   const std::vector<std::string>& choices) {
  const auto text = find_setting(settings, key);
  if (!text) return 0;
  std::string known;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    if (choices[c] == *text) return static_cast<int>(c);
    known += (c == 0 ? "" : c + 1 == choices.size() ? " or " : ", ") + choices[c];
  }
  refuse(key, *text, known);
}

std::vector<double> list_setting(const Settings& settings, const std::string& key) {
  const auto text = find_setting(settings, key);
  if (!text) return {};
  const auto values = parse_list(*text);
  if (!values || values->empty()) {
    refuse(key, *text, "numbers separated by commas, or a file of numbers");
  }
  return *values;
}

int window_setting(const Settings& settings, const Domain& domain) {
  return integer_setting(settings, "window").value_or(domain.unbounded() ? 1 : 0);
}

void check_window(const Domain& domain, int window) {
  if (window < 0) {
    throw UsageError("window is " + std::to_string(window) + "; it must be at least 1");
  }
  if (domain.unbounded() && window == 0) {
    throw UsageError(
        "the model's integers are unbounded, and this sampler needs to know how far one may move "
        "in a step: give a window, or take dmala, which finds one");
  }
  if (domain.kind() == Domain::Kind::categorical && window != 0) {
    throw UsageError("a window needs ordered levels, but the model's levels are categorical");
  }
}

Settings with_files_read(Settings settings) {
  for (auto& [key, value] : settings) {
    // Also of a part: dmala.precondition.
    if (key.substr(key.find('.') + 1) != "precondition" || parse_list(value)) continue;
    std::ifstream file(value);
    if (!file) continue;  // refused with the other values that do not fit
    std::string content{std::istreambuf_iterator<char>(file), {}};
    if (!parse_list(content)) throw DataError(value + ": precondition must be a file of numbers");
    value = std::move(content);
  }
  return settings;
}

}  // namespace saltus
