#include "cli/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/printable.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus::cli {
namespace {

constexpr std::size_t kLongestName = 24;  // in a table

}  // namespace

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

std::string coordinate_label(int i, const std::vector<int>& shape, const Labels& labels) {
  if (labels.coordinates.empty()) return coordinate_name(i, shape);
  return shortened(printable(saltus::coordinate_name(labels, i)), kLongestName);
}

std::string level_label(int i, int level, const Labels& labels) {
  return shortened(printable(level_name(labels, i, level)), kLongestName);
}

Labels labels_in(const DrawsInfo& info) {
  const auto text = [&](const char* name) {
    const auto found = info.attributes.find(name);
    return found == info.attributes.end() ? std::string() : found->second;
  };
  std::int64_t dim = 1;
  for (const int n : info.shape) dim *= n;
  return labels_from_json(text("labels"), text("level_names"), static_cast<int>(dim));
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

std::string parameters_text(const std::vector<Parameter>& parameters,
                            const std::vector<std::string>& without) {
  std::string text;
  for (const Parameter& p : parameters) {
    if (std::any_of(without.begin(), without.end(),
                    [&](const std::string& name) { return p.name.ends_with(name); })) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + parameter_text(p);
  }
  return text;
}

std::vector<std::size_t> sorted_by(const Summaries& all, double CoordinateSummary::*of,
                                   bool largest_first) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double x = all[a].*of, y = all[b].*of;
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return largest_first ? x > y : x < y;
  });
  return order;
}

std::string fixed(double v, int digits) {
  return std::isnan(v) ? "-" : fmt::format("{:.{}f}", v, digits);
}

std::string given_text(const GivenValues& given) {
  constexpr std::size_t kMost = 60;
  std::string text = given.text();
  if (text.size() > kMost) text = text.substr(0, text.rfind(',', kMost)) + ",...";
  return fmt::format("{} of {} coordinates: {}", count(given.list().size()),
                     count(given.domain().dim()), text);
}

}  // namespace saltus::cli
