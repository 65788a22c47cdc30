// Measurements in fresh processes of this same program.
#pragma once

#include <string>

#include "bench/cases.hpp"

namespace saltus::bench {

constexpr const char* kChildOption = "--measure";

// Measures a case at an instruction-set level ("" for the best one). Ends the program when that
// fails: a table with holes would mislead.
Measurement measure_in_child(const std::string& name, const std::string& level);

// What the child prints for its parent.
void print_measurement(const Measurement& m);

}  // namespace saltus::bench
