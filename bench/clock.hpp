// Clocks, medians and memory.
#pragma once

#include <time.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace saltus::bench {

inline double seconds_on(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// What passed on the wall, and what the calling thread used of the processor. The second hardly
// grows when other programs compete for the processor; it is all there is to a case with one
// thread. (The time of the whole process is no use: OpenBLAS starts a thread that spins for a while
// and is idle.)
struct Time {
  double wall = 0, cpu = 0;

  static Time now() { return {seconds_on(CLOCK_MONOTONIC), seconds_on(CLOCK_THREAD_CPUTIME_ID)}; }
  Time since(Time start) const { return {wall - start.wall, cpu - start.cpu}; }
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// The most memory that this process ever held, in bytes.
inline double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  return 0;
}

}  // namespace saltus::bench
