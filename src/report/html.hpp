// Text for HTML: nothing that comes from a user is markup.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace saltus::report {

// As element content or inside a quoted attribute.
std::string escaped(std::string_view text);

// JSON that can stand inside a <script> element: no '<' is left in it. Bytes that are no UTF-8 are
// replaced.
std::string script_json(const nlohmann::ordered_json& json);

// null for what JSON cannot hold.
nlohmann::ordered_json number_or_null(double value);

std::string base64(std::span<const std::byte> bytes);

}  // namespace saltus::report
