// Factor graphs with tables alone, or with clauses alone: what formats can hold that have only one
// of them. log p of every state is kept.
#pragma once

#include <optional>

#include "saltus/model/models.hpp"

namespace saltus {

// The factor graph that a model is, without its labels; nothing for others.
std::optional<FactorsModel> graph_of_model(const AnyModel& model);

// Each clause as a table over its coordinates. Throws DataError where such a table would have more
// than 2^20 entries.
FactorsModel with_tables_alone(const FactorsModel& graph);

// Each entry of a table as a clause that its states alone violate; of two-level coordinates.
FactorsModel with_clauses_alone(const FactorsModel& graph);

}  // namespace saltus
