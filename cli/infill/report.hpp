// What 'saltus infill' prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/infill/options.hpp"
#include "saltus/run/run.hpp"

namespace saltus::cli {

// How a chain ended, or several that ended alike.
struct Completion {
  std::vector<std::string> words;
  double energy = 0;          // U, the larger the better
  std::vector<double> log_f;  // its terms
  std::vector<int> chains;    // their numbers
};

// Distinct ones, the best first.
std::vector<Completion> distinct(const std::vector<Completion>& of_chains);

struct Infilled {
  const InfillRequest& request;
  const GappedText& sentence;
  const BertFiles& bert;
  std::size_t allowed;  // pieces that may stand in a gap
  std::vector<Completion> chains;
  RunStatistics statistics;
  std::vector<Parameter> parameters;
  bool tuned, exact;
};

void print_head(const Infilled& result);
void print_completions(const Infilled& result);
nlohmann::ordered_json infilled_json(const Infilled& result);

// A filling that was given: U, its terms and rows of its gradient.
struct Scored {
  const GappedText& sentence;
  const BertFiles& bert;
  const InfillProblem& problem;
  Completion completion;
  struct GradientRow {
    double norm = 0, largest = 0;
    std::int32_t where = 0;  // the piece with the largest
  };
  std::vector<GradientRow> gradient;
};

void print_scored(const Scored& result);
nlohmann::ordered_json scored_json(const Scored& result);

}  // namespace saltus::cli
