// Starting states from a text file: one row per chain, level indices separated by commas or blanks.
#pragma once

#include <string>

#include "saltus/core/domain.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

// Throws FileError or DataError; messages name the file, the row and the value.
RowBuffer<Symbol> read_start_file(const std::string& path, int chains, const Domain& domain);

}  // namespace saltus
