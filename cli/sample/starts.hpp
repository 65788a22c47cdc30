// Where the chains of 'saltus sample' start: --init.
#pragma once

#include <string>

#include "saltus/sample.hpp"

namespace saltus::cli {

// The run finds its starts by itself.
bool starts_itself(const std::string& init);
// A name, not that of a file.
bool is_start_name(const std::string& init);

// A row of the free coordinates for each chain: all at their lowest level, or at the one above it,
// or of a file, whose states are those of all coordinates. Throws DataError and FileError.
RowBuffer<Symbol> starting_states(const std::string& init, const SampleRequest& request);

}  // namespace saltus::cli
