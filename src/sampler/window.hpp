// The reach of a move on ordered levels.
#pragma once

#include "saltus/core/domain.hpp"

namespace saltus {

// Throws UsageError for a window that makes no sense on this domain. 0: no window.
void check_window(const Domain& domain, int window);

}  // namespace saltus
