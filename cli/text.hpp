// Numbers and durations as people read them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus::cli {

std::string with_commas(std::uint64_t n);               // 1,000,000
std::string short_number(double v);                     // 4 significant digits; "-" for NaN
std::string rounded(double v);                          // a whole number with commas; "-" for NaN
std::string duration(double seconds);                   // "0.8 s", "2 min 5 s"
std::string shape_text(const std::vector<int>& shape);  // "5 x 5"
std::string coordinate_name(int i, const std::vector<int>& shape);  // "x[2,3]"
// In quotes where a shell needs them.
std::string shell_word(const std::string& text);
std::string parameter_text(const Parameter& parameter);

// A JSON number, or null for what JSON cannot hold.
nlohmann::ordered_json json_number(double v);
nlohmann::ordered_json parameters_json(const std::vector<Parameter>& parameters);

}  // namespace saltus::cli
