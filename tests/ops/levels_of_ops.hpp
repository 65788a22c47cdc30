// The instruction-set levels that this machine can run.
#pragma once

#include <vector>

#include "ops/ops.hpp"

namespace saltus::ops {

inline std::vector<Level> vector_levels() {
  std::vector<Level> list;
  for (Level level : levels()) {
    if (level != Level::scalar) list.push_back(level);
  }
  return list;
}

}  // namespace saltus::ops
