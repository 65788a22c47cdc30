#include "cli/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

namespace saltus::cli {

std::string with_commas(std::uint64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string short_number(double v) {
  return std::isnan(v) ? "-" : fmt::format("{:.4g}", v);
}

std::string rounded(double v) {
  if (!std::isfinite(v)) return std::isnan(v) ? "-" : "inf";
  return (v < 0 ? "-" : "") + with_commas(static_cast<std::uint64_t>(std::llround(std::abs(v))));
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto s = static_cast<std::uint64_t>(std::llround(seconds));
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

std::string shape_text(const std::vector<int>& shape) {
  std::string text;
  for (int n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

std::string coordinate_name(int i, const std::vector<int>& shape) {
  std::string inside;
  for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) {
    inside = std::to_string(i % shape[d]) + (inside.empty() ? "" : ",") + inside;
  }
  return "x[" + inside + "]";
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("-_./+:=@%,", c);
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string parameter_text(const Parameter& parameter) {
  const auto text = [](const auto& v) -> std::string {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, bool>)
      return v ? "true" : "false";
    else if constexpr (std::is_same_v<T, std::string>)
      return v;
    else if constexpr (std::is_same_v<T, double>)
      return fmt::format("{:.4g}", v);
    else
      return std::to_string(v);
  };
  return parameter.name + " " + std::visit(text, parameter.value);
}

nlohmann::ordered_json json_number(double v) {
  return std::isfinite(v) ? nlohmann::ordered_json(v) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json parameters_json(const std::vector<Parameter>& parameters) {
  auto object = nlohmann::ordered_json::object();
  for (const Parameter& p : parameters) {
    if (const double* number = std::get_if<double>(&p.value)) {
      object[p.name] = json_number(*number);
    } else {
      std::visit([&](const auto& v) { object[p.name] = v; }, p.value);
    }
  }
  return object;
}

}  // namespace saltus::cli
