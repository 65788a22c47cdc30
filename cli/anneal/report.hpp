// What 'saltus anneal' prints, and the file of states that it writes.
#pragma once

#include <string>

#include "saltus/anneal.hpp"

namespace saltus::cli {

struct AnnealReport {
  const AnnealRequest& request;
  const AnnealResult& result;
  const Target& model;  // of all coordinates
  std::string schedule, out;
};

void print_anneal(const AnnealReport& report);
void show_anneal_json(const AnnealReport& report);

// Throws UsageError unless the name ends as that of a file of states does: .json, .npz or .csv.
void check_states_file(const std::string& out);
// The best state of each restart. Throws FileError.
void write_states(const AnnealReport& report);

}  // namespace saltus::cli
