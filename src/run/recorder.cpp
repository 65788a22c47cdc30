#include "saltus/run/recorder.hpp"

#include "saltus/core/error.hpp"

namespace saltus {

void Recorder::merge(const Recorder&) {
  throw UsageError("what was recorded cannot be merged");
}

}  // namespace saltus
