// The exact transition matrix of proposals that move every coordinate independently.
#pragma once

#include <functional>
#include <span>

#include "saltus/diagnose/exact.hpp"

namespace saltus {

double log_sum_exp(std::span<const double> a);

// `log_law(s, out)` writes log q_i(k | state s) of every level k of every coordinate i, coordinate
// after coordinate. adjust: with the Metropolis test.
void product_matrix(const StateTable& table, bool adjust,
                    const std::function<void(std::size_t s, std::span<double> out)>& log_law,
                    Rows<double> matrix, std::span<double> acceptance);

}  // namespace saltus
