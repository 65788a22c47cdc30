// Choices of a sampler (saltus/compare/choice.hpp) as JSON, and those that are kept for later runs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "saltus/sample.hpp"

namespace saltus {

nlohmann::ordered_json choice_to_json(const Choice& choice);
// Throws nlohmann::json::exception where the fields do not fit.
Choice choice_from_json(const nlohmann::json& json);

// The race that this machine ran for the same request, from the folder `request.cache`. Nothing
// where there is none, where its file is damaged, or where no text describes the target.
std::optional<Choice> kept_choice(const SampleRequest& request);
// Keeps it there. A folder that cannot be written is no error: the next run races again.
void keep_choice(const SampleRequest& request, const Choice& choice);

}  // namespace saltus
