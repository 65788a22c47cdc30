// What 'saltus learn' tells: a line while it learns, and a summary.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/learn/options.hpp"
#include "cli/terminal.hpp"

namespace saltus::cli {

// Recent values, and where the time went. A plain value: a checkpoint keeps it.
struct LearnTotals {
  LearningInfo recent;  // means that forget: over about the last 20 iterations
  std::uint64_t iterations = 0;
  double sampling_seconds = 0, gradient_seconds = 0, update_seconds = 0;

  void add(const LearningInfo& info);
  double seconds() const { return sampling_seconds + gradient_seconds + update_seconds; }
};

// Drawn over on a terminal, now and then a plain line elsewhere.
class LearnProgress {
 public:
  LearnProgress(std::uint64_t done, std::uint64_t planned);
  // `seconds` since learning began, or went on.
  void update(const LearnTotals& totals, double seconds);
  // A line about something else.
  void tell(const std::string& line, double seconds);
  void clear() { line_.clear(); }

 private:
  StatusLine line_{StatusLine::Elsewhere::lines};
  std::uint64_t first_, planned_;
};

struct LearnReport {
  const LearnRequest& request;
  const ContrastiveDivergence& learning;
  const LearnTotals& totals;
  int rows, dim;
  bool complete;
};

void print_report(const LearnReport& report);
nlohmann::ordered_json report_json(const LearnReport& report);

}  // namespace saltus::cli
