// What 'saltus learn' prints: a line while it learns, and a summary.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/options.hpp"
#include "saltus/learn.hpp"

namespace saltus::cli {

struct LearnCommand : RunControl {
  LearnRequest request;
  std::string data, out;  // files
};

std::string line_of(const LearnStatus& status);

void print_report(const LearnCommand& command, const LearnRequest& learned,
                  const LearnResult& result);
nlohmann::ordered_json report_json(const LearnCommand& command, const LearnRequest& learned,
                                   const LearnResult& result);

}  // namespace saltus::cli
