// Models of the kind graph as JSON. docs/formats.md has the fields.
#pragma once

#include <string>

#include "io/models/json_fields.hpp"
#include "saltus/model/models.hpp"

namespace saltus {

GraphModel read_graph_json(JsonFields& fields);
std::string graph_json(const GraphModel& model);

}  // namespace saltus
