// Models of the coordinates that are left free where others have known values: the values are
// folded into the model's own numbers, so that all that is fast for the model stays fast.
#pragma once

#include <optional>

#include "saltus/model/models.hpp"
#include "saltus/target/given_values.hpp"

namespace saltus {

// log p of a state of the free coordinates is that of the whole state. The domain of `given` is the
// model's. Nothing for networks and counts, which Given (saltus/target/given.hpp) serves. Without
// labels. Throws UsageError where nothing is left free, DataError where the values contradict a
// factor.
std::optional<AnyModel> condition(const AnyModel& model, const GivenValues& given);

}  // namespace saltus
