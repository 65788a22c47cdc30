// Text for HTML, of users and of our own: nothing that comes from a user is markup.
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
// replaced; numbers that are not finite are null.
std::string script_json(const nlohmann::ordered_json& json);

std::string base64(std::span<const std::byte> bytes);

// Files that the build embeds into the library, see cmake/pages.cmake. Defined only where pages are
// built.
std::string_view chart_js();  // Chart.js, a UMD bundle
std::string_view page_css();
std::string_view page_js();

}  // namespace saltus::report
