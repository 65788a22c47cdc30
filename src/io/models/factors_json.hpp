// Factor graphs as JSON: {"model": "factors", ...}. docs/formats.md has the fields.
#pragma once

#include <string>

#include "io/models/json_fields.hpp"
#include "saltus/model/models.hpp"

namespace saltus {

FactorsModel read_factors(JsonFields& fields);
std::string factors_json(const FactorsModel& model);

}  // namespace saltus
