#include "bench/child.hpp"

#include <fmt/core.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace saltus::bench {
namespace {

[[noreturn]] void run_child(const std::string& name, const std::string& level, int output) {
  ::dup2(output, STDOUT_FILENO);
  if (level.empty()) {
    ::unsetenv("SALTUS_LEVEL");
  } else {
    ::setenv("SALTUS_LEVEL", level.c_str(), 1);
  }
  ::execl("/proc/self/exe", "saltus_bench_table", kChildOption, name.c_str(), nullptr);
  ::_exit(127);
}

[[noreturn]] void fail(const std::string& name, const std::string& level) {
  fmt::print(stderr, "the measurement {} {} failed\n", name, level);
  std::exit(1);
}

}  // namespace

Measurement measure_in_child(const std::string& name, const std::string& level) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) fail(name, level);
  const pid_t child = ::fork();
  if (child < 0) fail(name, level);
  if (child == 0) {
    ::close(ends[0]);
    run_child(name, level, ends[1]);
  }
  ::close(ends[1]);
  std::FILE* answer = ::fdopen(ends[0], "r");
  Measurement m;
  const bool read = std::fscanf(answer, "%lf %lf %lf %lf %lf", &m.wall, &m.cpu, &m.least_wall,
                                &m.peak_bytes, &m.acceptance) == 5;
  std::fclose(answer);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!read || status != 0) fail(name, level);
  return m;
}

void print_measurement(const Measurement& m) {
  fmt::print("{} {} {} {} {}\n", m.wall, m.cpu, m.least_wall, m.peak_bytes, m.acceptance);
}

}  // namespace saltus::bench
