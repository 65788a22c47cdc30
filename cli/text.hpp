// Models, parameters and file names as people read them.
#pragma once

#include <string>
#include <vector>

#include "core/number_text.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/sampler/sampler.hpp"
#include "service/result_json.hpp"

namespace saltus::cli {

using Json = OrderedJson;

// with_commas for any whole number that is not negative.
template <class T>
std::string count(T n) {
  return with_commas(static_cast<std::uint64_t>(n));
}
std::string shape_text(const std::vector<int>& shape);              // "5 x 5"
std::string coordinate_name(int i, const std::vector<int>& shape);  // "x[2,3]"
// In quotes where a shell needs them.
std::string shell_word(const std::string& text);
std::string parameter_text(const Parameter& parameter);
// All but those whose names end so, separated by commas.
std::string parameters_text(const std::vector<Parameter>& parameters,
                            const std::vector<std::string>& without = {});

// Coordinates by one number of theirs, NaN last.
using Summaries = std::vector<CoordinateSummary>;
std::vector<std::size_t> sorted_by(const Summaries& all, double CoordinateSummary::*of,
                                   bool largest_first = false);
std::string fixed(double v, int digits);  // "-" for NaN

}  // namespace saltus::cli
