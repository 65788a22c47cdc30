// What an experiment leaves: results.json, curves.json, pictures, a page, and a table on the
// terminal.
#pragma once

#include "reproduce/experiment.hpp"

namespace saltus::reproduce {

// Beside the results: how they came about.
struct Made {
  const Experiment& experiment;
  Options options;
  std::string command;  // that repeats it
  double seconds = 0;
  std::string machine;
};

const char* verdict_text(Verdict verdict);
// "alpha 0.4, sampler dmala"
std::string setting_text(const Json& setting);
// As many digits as the spread has use for; exact numbers have six.
std::string number_text(double value, std::optional<double> spread = {});

Json results_json(const Results& results, const Made& made);
// Every plot with its series.
Json curves_json(const Results& results);
std::string results_text(const Results& results);

// Writes results.json, curves.json, the pictures and, where pages are built, page.html. The folder
// must be there. Returns what was written. Throws FileError.
std::vector<std::filesystem::path> write_results(const Results& results, const Made& made,
                                                 const std::filesystem::path& folder);

}  // namespace saltus::reproduce
