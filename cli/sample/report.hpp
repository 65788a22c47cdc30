// The summary of a run: a table for people, JSON for programs.
#pragma once

#include "cli/text.hpp"
#include "saltus/sample.hpp"

namespace saltus::cli {

// The list "mean" is long: show_json is given it apart.
Json report_json(const SampleResult& result);
void print_report(const SampleResult& result);

}  // namespace saltus::cli
