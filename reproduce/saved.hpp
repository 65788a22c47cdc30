// Results as JSON, and back from it: results.json has the numbers, curves.json the plots and the
// rest of the page.
#pragma once

#include "reproduce/output.hpp"

namespace saltus::reproduce {

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
