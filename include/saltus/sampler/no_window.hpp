// Thrown where nothing says how far a sampler may move on unbounded integers.
#pragma once

#include "saltus/core/error.hpp"

namespace saltus {

struct NoWindow : UsageError {
  using UsageError::UsageError;
};

}  // namespace saltus
