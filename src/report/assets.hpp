// Files that the build embeds into the library, see cmake/pages.cmake. Defined only where pages are
// built.
#pragma once

#include <string_view>

namespace saltus::report {

std::string_view chart_js();  // Chart.js, a UMD bundle
std::string_view page_css();
std::string_view page_js();

}  // namespace saltus::report
