// Evidence of UAI: coordinates whose levels are given, in a file beside a network.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

namespace saltus {

// Pairs (coordinate, level) in the order of the file: "k i_1 v_1 ... i_k v_k", in words, with the
// number of samples, 1, before it where the file has it. No coordinate is there twice; whether the
// model has it, and the level, is for the caller to check. Throws FileError, and DataError with
// the file and the line.
std::vector<std::pair<int, int>> read_evidence(const std::filesystem::path& path);

}  // namespace saltus
