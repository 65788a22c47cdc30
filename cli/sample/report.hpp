// The summary of a run: a table for people, JSON for programs.
#pragma once

#include "cli/text.hpp"
#include "saltus/sample.hpp"

namespace saltus::cli {

// `repeat`: where a race chose the sampler, the command that makes the same draws without one.
void show_report_json(const SampleResult& result, const std::string& repeat);
void print_report(const SampleResult& result, const std::string& repeat);

}  // namespace saltus::cli
