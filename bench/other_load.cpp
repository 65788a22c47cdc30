#include "bench/other_load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "bench/clock.hpp"

namespace saltus::bench {
namespace {

constexpr double kQuiet = 0.1;

// Time for which all cores together were busy: user, nice, system, irq, softirq and steal.
double busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string label;
  std::array<double, 8> ticks{};
  stat >> label;
  for (double& t : ticks) stat >> t;
  const double busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
  return busy / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

double own_seconds() {
  double sum = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

}  // namespace

OtherLoad::Used OtherLoad::now() {
  return {seconds_on(CLOCK_MONOTONIC), busy_seconds(), own_seconds()};
}

double OtherLoad::cores() const {
  const Used end = now();
  const double others = (end.all - start_.all) - (end.own - start_.own);
  return std::max(0.0, others / (end.clock - start_.clock));
}

void OtherLoad::wait_for_quiet(double seconds) {
  const double until = seconds_on(CLOCK_MONOTONIC) + seconds;
  do {
    const OtherLoad load;
    ::usleep(500000);
    if (load.cores() < kQuiet) return;
  } while (seconds_on(CLOCK_MONOTONIC) < until);
}

}  // namespace saltus::bench
