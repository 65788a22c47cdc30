// Draws as files: .npz (NumPy), .nc (netCDF-4, opens in ArviZ as InferenceData), .csv; and files of
// starts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/run/draws.hpp"

namespace saltus {

// True for a file name whose extension names a format that this build can write. When it cannot,
// `why` says so in a sentence for the user.
bool can_write_draws(const std::filesystem::path& path, std::string* why);

// True for a format in which a file of draws can also hold what was said of them
// (DrawsInfo::attributes: "warnings").
bool keeps_warnings(const std::filesystem::path& path);

// Writes all draws, block by block, to a temporary file beside `path` and renames it at the end:
// the file is there whole or not at all. Throws FileError.
void write_draws(const std::filesystem::path& path, const Draws& draws);

// Opens a saved run, by extension. Throws FileError when it cannot be opened and DataError, with
// the name and the reason, when it is not what its extension says.
std::unique_ptr<Draws> open_draws(const std::filesystem::path& path);

// The draws of one run from files of its parts, in any order. Throws as open_draws does, and
// DataError when they are not all parts of one run.
std::unique_ptr<Draws> open_parts(const std::vector<std::string>& paths);

// Starting states: the last draws of a file of draws, which has as many chains, or a text file with
// one row per chain, level indices separated by commas or blanks. Throws FileError or DataError;
// messages name the file, the row and the value.
RowBuffer<Symbol> read_start_file(const std::string& path, int chains, const Domain& domain);

}  // namespace saltus
