// What the readers of factor graphs share: logarithms of numbers, and models made of both.
#pragma once

#include <string_view>

#include "saltus/io/model_file.hpp"

namespace saltus {

constexpr std::int64_t kMostVariables = 100'000'000;
constexpr std::uint64_t kMostTableEntries = (std::uint64_t{1} << 31) - 1;  // of one table
constexpr std::uint64_t kMostGraphEntries = 1'000'000'000;                 // of all

// A number in decimals, from 0 on, with its logarithm. The logarithm is that of the digits and the
// exponent, so that 1e-400 is not 0. False where the word is not that, or above every double.
bool logarithm_in_decimals(std::string_view word, double& value, double& logarithm);

// log p of the model times beta, judged by its log p.
Model factors_problem(FactorsModel graph, const ProblemOptions& options);
// The same, judged by the cost: the weight of the clauses that no literal satisfies.
Model clauses_problem(FactorsModel clauses, const ProblemOptions& options);

}  // namespace saltus
