// Answers as solvers of UAI write them, one solution to a file: log10 Z (.PR), the probabilities of
// all levels (.MAR), the best state (.MPE). Coordinates whose level is given are among them.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "saltus/core/rows.hpp"

namespace saltus {

enum class UaiTask { pr, mar, mpe };

// By the end of the file's name, in small or capital letters. Throws UsageError.
UaiTask uai_task(const std::filesystem::path& file);

std::string pr_answer(double log_z);
// The probabilities of all levels, coordinate after coordinate.
std::string mar_answer(std::span<const int> levels, std::span<const double> probabilities);
std::string mpe_answer(std::span<const Symbol> state);

}  // namespace saltus
