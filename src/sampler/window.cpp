#include "sampler/window.hpp"

#include <string>

#include "saltus/core/error.hpp"

namespace saltus {

void check_window(const Domain& domain, int window) {
  if (window < 0) {
    throw UsageError("window is " + std::to_string(window) + "; it must be at least 1");
  }
  if (domain.unbounded() && window == 0) {
    throw UsageError("the model's integers are unbounded: give a window, for example window=1");
  }
  if (domain.kind() == Domain::Kind::categorical && window != 0) {
    throw UsageError("a window needs ordered levels, but the model's levels are categorical");
  }
}

}  // namespace saltus
