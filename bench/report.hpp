// The table: what, our figure, the goal, how far from it, verdict.
#pragma once

#include <string>
#include <vector>

namespace saltus::bench {

struct Goal {
  enum class Kind { none, at_least, at_most } kind = Kind::none;
  double value = 0;
};
inline Goal at_least(double value) {
  return {Goal::Kind::at_least, value};
}
inline Goal at_most(double value) {
  return {Goal::Kind::at_most, value};
}

// Lines are printed as they come: a table takes a while.
class Report {
 public:
  void title(const std::string& text);
  // remark: what stands beside a goal that is not met.
  void line(const std::string& what, double figure, const std::string& unit, Goal goal = {},
            const std::string& remark = "");
  int missed() const { return missed_; }
  int goals() const { return goals_; }

 private:
  int missed_ = 0, goals_ = 0;
};

// Processor, cores, compiler, build type, version.
std::string machine();

}  // namespace saltus::bench
