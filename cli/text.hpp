// Models, parameters and file names as people read them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/number_text.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus::cli {

std::string shape_text(const std::vector<int>& shape);              // "5 x 5"
std::string coordinate_name(int i, const std::vector<int>& shape);  // "x[2,3]"
// In quotes where a shell needs them.
std::string shell_word(const std::string& text);
std::string parameter_text(const Parameter& parameter);
// All but those whose names end so, separated by commas.
std::string parameters_text(const std::vector<Parameter>& parameters,
                            const std::vector<std::string>& without = {});

// A JSON number, or null for what JSON cannot hold.
nlohmann::ordered_json json_number(double v);
nlohmann::ordered_json parameters_json(const std::vector<Parameter>& parameters);

}  // namespace saltus::cli
