// Models as JSON text.
#pragma once

#include <string>

#include "saltus/model/models.hpp"

namespace saltus {

// The whole of a model that has no weights in files beside it. Throws UsageError for the others.
std::string inline_text(const AnyModel& model);

}  // namespace saltus
