// The machine that a page was made on.
#pragma once

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <thread>

namespace saltus::report {

// Processor, number of threads, system: "AMD EPYC 7763, 8 threads, Linux x86_64". Linux on x86
// names the processor; elsewhere it remains unnamed.
inline std::string this_machine() {
  std::string processor;
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; processor.empty() && std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    processor = line.substr(colon + 2) + ", ";
  }
  utsname system{};
  ::uname(&system);
  const unsigned threads = std::thread::hardware_concurrency();
  return fmt::format("{}{} thread{}, {} {}", processor, threads, threads == 1 ? "" : "s",
                     system.sysname, system.machine);
}

}  // namespace saltus::report
