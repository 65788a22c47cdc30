// Which level this machine can run, and which is in use.
#include <array>
#include <cstdlib>
#include <string>

#include "ops/ops.hpp"
#include "saltus/core/error.hpp"

namespace saltus::ops {

namespace scalar {
extern const Ops table;
}
namespace baseline {
extern const Ops table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Ops table;
}
namespace avx512 {
extern const Ops table;
}
#endif

std::string_view name(Level level) {
  switch (level) {
    case Level::scalar:
      return "scalar";
    case Level::baseline:
      return "baseline";
    case Level::avx2:
      return "avx2";
    case Level::avx512:
      return "avx512";
  }
  return "";
}

std::span<const Level> levels() {
  static constexpr std::array all = {Level::scalar, Level::baseline, Level::avx2, Level::avx512};
  std::size_t count = 2;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) count = 3;
  if (count == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    count = 4;
  }
#endif
  return std::span(all).first(count);
}

const Ops& ops(Level level) {
  switch (level) {
    case Level::scalar:
      return scalar::table;
    case Level::baseline:
      return baseline::table;
#if defined(__x86_64__)
    case Level::avx2:
      return avx2::table;
    case Level::avx512:
      return avx512::table;
#else
    case Level::avx2:
    case Level::avx512:
      break;
#endif
  }
  return baseline::table;
}

namespace {

Level choose_level() {
  const char* wanted = std::getenv("SALTUS_LEVEL");
  if (!wanted) return levels().back();
  std::string known;
  for (Level level : levels()) {
    if (name(level) == wanted) return level;
    known += std::string(known.empty() ? "" : ", ") + std::string(name(level));
  }
  throw UsageError("SALTUS_LEVEL is '" + std::string(wanted) + "', but this machine has " + known);
}

}  // namespace

Level active_level() {
  static const Level level = choose_level();
  return level;
}

}  // namespace saltus::ops
