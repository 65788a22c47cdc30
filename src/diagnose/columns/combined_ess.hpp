// The effective sample size of several sequences taken together, from their lag sums.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace saltus {

// Of sequences with `length` draws each, one per mean; sums[k] is their lag sum k (lag_sums.hpp).
// NaN if all draws are equal or some draw is not finite, and nothing if the answer depends on a lag
// that is not among the sums. All lags below the length are always enough, and at least two of them
// are needed.
std::optional<double> combined_ess(std::span<const double> means, std::size_t length,
                                   std::span<const double> sums);

}  // namespace saltus
