// Models, parameters and file names as people read them.
#pragma once

#include <string>
#include <vector>

#include "core/number_text.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/model/labels.hpp"
#include "saltus/run/draws.hpp"
#include "saltus/sampler/sampler.hpp"
#include "saltus/target/given_values.hpp"
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
// The name that the model has for it, shortened and safe to show; otherwise as above, and the index
// of the level.
std::string coordinate_label(int i, const std::vector<int>& shape, const Labels& labels);
std::string level_label(int i, int level, const Labels& labels);
// Those that draws were written with.
Labels labels_in(const DrawsInfo& info);
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

// "2 of 5 coordinates: 3=1,7=0".
std::string given_text(const GivenValues& given);

}  // namespace saltus::cli
