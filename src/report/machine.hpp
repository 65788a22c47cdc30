// The machine that a page was made on.
#pragma once

#include <string>

namespace saltus::report {

// Processor, number of threads, system: "AMD EPYC 7763, 8 threads, Linux x86_64".
std::string this_machine();

}  // namespace saltus::report
