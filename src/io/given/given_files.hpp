// The kinds of files that say which values are given. Each throws DataError that names the file and
// the place, and FileError.
#pragma once

#include <filesystem>
#include <vector>

#include "saltus/target/given_values.hpp"

namespace saltus {

// An array of an entry for each coordinate, -1 where it is free.
std::vector<GivenValue> given_in_npy(const std::filesystem::path& path, const Domain& domain);

// A picture of a pixel for each coordinate of two levels, row after row: black is the lower one,
// white the upper one; what is grey, or more than half transparent, is free.
std::vector<GivenValue> given_in_picture(const std::filesystem::path& path, const Domain& domain);

}  // namespace saltus
