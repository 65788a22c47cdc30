// What the JSON and the binary files of dimod share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "saltus/model/models.hpp"

namespace saltus {

// Labels from a JSON list: numbers, texts and lists of such, all different; none where they are 0
// to n - 1. Throws DataError that begins with `source`.
Labels dimod_labels(const nlohmann::json& list, std::size_t n, const std::string& source);

// SPIN or BINARY: whether the variables are spins. Throws DataError.
bool dimod_spins(const nlohmann::json& vartype, const std::string& field,
                 const std::string& source);

}  // namespace saltus
