// Names of coordinates and levels in model files: the fields labels or names, and level_names.
#pragma once

#include <span>

#include "io/models/json_fields.hpp"
#include "saltus/model/labels.hpp"

namespace saltus {

// `levels` has the number of levels of each coordinate. Throws DataError where names do not fit.
Labels read_labels(JsonFields& fields, std::span<const int> levels);

// The same as the last fields of an object, each with a comma before it; empty where there are no
// names.
std::string labels_fields(const Labels& labels);

}  // namespace saltus
