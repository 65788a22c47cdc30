// R-hat of sequences as they are, without ranks or folding.
#pragma once

#include <cstddef>

#include "diagnose/columns/sequences.hpp"

namespace saltus {

// sqrt(var_plus / W) of sequences with `length` draws each (see split_rhat).
double plain_rhat(const SequenceMoments& moments, std::size_t length);

}  // namespace saltus
