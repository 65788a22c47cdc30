// JSON as we accept it: every key once in its object, every number finite. Messages name the source
// and the place inside it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saltus {

// Throws DataError.
nlohmann::json parse_strictly(const std::string& text, const std::string& source);

}  // namespace saltus
