#include "report/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <thread>

namespace saltus::report {
namespace {

// Linux on x86 names the processor here; elsewhere it remains unnamed.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::string this_machine() {
  utsname system{};
  ::uname(&system);
  const std::string name = processor();
  const unsigned threads = std::thread::hardware_concurrency();
  return fmt::format("{}{}{} thread{}, {} {}", name, name.empty() ? "" : ", ", threads,
                     threads == 1 ? "" : "s", system.sysname, system.machine);
}

}  // namespace saltus::report
