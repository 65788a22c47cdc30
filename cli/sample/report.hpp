// The summary of a run: a table for people, JSON for programs.
#pragma once

#include "cli/text.hpp"
#include "saltus/sample.hpp"

namespace saltus::cli {

void show_report_json(const SampleResult& result);
void print_report(const SampleResult& result);

}  // namespace saltus::cli
