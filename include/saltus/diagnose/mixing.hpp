// When R-hat speaks against draws. The largest of many is above 1.01 by chance where chains are
// short, so it is judged beside what chance makes of it.
#pragma once

#include <optional>
#include <span>

#include "saltus/core/warning.hpp"
#include "saltus/diagnose/observables.hpp"
#include "saltus/diagnose/summary.hpp"

namespace saltus {

// The warning "mixing": an R-hat is above 1.01 and above what one run in a thousand has by chance;
// or above 1.01 where some effective sample size is below 400, too small to tell. Overlaps of pairs
// of chains do not count.
std::optional<Warning> mixing_warning(std::span<const CoordinateSummary> coordinates,
                                      std::span<const ObservableSummary> observables, int chains);

}  // namespace saltus
