#include "bench/report.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "saltus/version.hpp"

namespace saltus::bench {
namespace {

// Three significant digits, with thousands set apart.
std::string number(double v) {
  if (v < 1000) return fmt::format("{:.{}f}", v, v < 10 ? 2 : v < 100 ? 1 : 0);
  const double unit = std::pow(10, std::floor(std::log10(v)) - 2);
  std::string digits = fmt::format("{:.0f}", std::round(v / unit) * unit);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown compiler";
#endif
}

}  // namespace

void Report::title(const std::string& text) {
  fmt::print("\n{}\n{:<58} {:>20} {:>14} {:>8}  {}\n", text, "what", "figure", "goal", "margin",
             "");
  std::fflush(stdout);
}

void Report::line(const std::string& what, double figure, const std::string& unit, Goal goal,
                  const std::string& remark) {
  std::string aim, margin, verdict;
  if (goal.kind != Goal::Kind::none) {
    const bool more = goal.kind == Goal::Kind::at_least;
    const double times = more ? figure / goal.value : goal.value / figure;
    aim = fmt::format("{} {}", more ? ">=" : "<=", number(goal.value));
    margin = fmt::format("{:.2f}", times);
    verdict = times >= 1 ? "met" : "NOT MET" + remark;
    ++goals_;
    if (times < 1) ++missed_;
  }
  fmt::print("{:<58} {:>20} {:>14} {:>8}  {}\n", what, number(figure) + " " + unit, aim, margin,
             verdict);
  std::fflush(stdout);
}

std::string machine() {
  return fmt::format("{}, {} cores, {}, {} build, saltus {}", processor(),
                     std::thread::hardware_concurrency(), compiler(), SALTUS_BUILD_TYPE, version());
}

}  // namespace saltus::bench
