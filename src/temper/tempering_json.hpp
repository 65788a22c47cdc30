// What a ladder did, as JSON: in results of the program, and in files of draws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "saltus/temper/parallel_tempering.hpp"

namespace saltus {

// Null stands for what is not a finite number. Without the paths of replicas.
nlohmann::ordered_json tempering_json(const TemperingReport& report);

// The same with the paths, as text, and back. Throws DataError for a text that is no such record.
std::string tempering_record(const TemperingReport& report);
TemperingReport read_tempering_record(const std::string& text);

}  // namespace saltus
