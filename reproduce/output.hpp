// What an experiment leaves: results.json, curves.json, pictures, a page, and a table on the
// terminal.
#pragma once

#include "reproduce/experiment.hpp"
#include "reproduce/results_folder.hpp"
#include "saltus/version.hpp"

namespace saltus::reproduce {

// Beside the results: how they came about.
struct Made {
  const Experiment& experiment;
  Options options;
  std::string command;  // that repeats it
  double seconds = 0;
  std::string machine;
  std::string version = saltus::version();
  std::string date = today();  // on which it ended
};

const char* verdict_text(Verdict verdict);
// "alpha 0.4, sampler dmala"
std::string setting_text(const Json& setting);
// As many digits as the spread has use for; exact numbers have six.
std::string number_text(double value, std::optional<double> spread = {});

std::string results_text(const Results& results);

// Throws FileError, and UsageError where pages are not built.
void write_page(const Results& results, const Made& made, const std::filesystem::path& path);

// Writes results.json, curves.json, the pictures and, where pages are built, page.html. The folder
// must be there. Returns what was written. Throws FileError.
std::vector<std::filesystem::path> write_results(const Results& results, const Made& made,
                                                 const std::filesystem::path& folder);

// Results as JSON, and back from it: results.json has the numbers, curves.json the plots and the
// rest of the page.
Json results_json(const Results& results, const Made& made);
Json curves_json(const Results& results);

struct Saved {
  Results results;
  Made made;
};
// From a folder that write_results has filled. Throws FileError when a file is missing, DataError,
// naming it, when it is not what write_results writes.
Saved read_results(const std::filesystem::path& folder);

}  // namespace saltus::reproduce
