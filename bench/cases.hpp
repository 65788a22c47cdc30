// What the table times. A case runs in a process of its own, because the instruction set is chosen
// once per process.
#pragma once

#include <string>

namespace saltus::bench {

// Nanoseconds per unit of the case's work (a coordinate and step, mostly) and the process's memory.
struct Measurement {
  double wall = 0, cpu = 0;  // medians over the timed parts
  double least_wall = 0;     // of the part that was disturbed least
  double peak_bytes = 0;
  double acceptance = 0;  // mean acceptance probability, where the case has one
};

// Throws std::out_of_range for an unknown name.
Measurement measure(const std::string& name);

}  // namespace saltus::bench
