// Graphs with weights as rudy writes them (G-set, Biq Mac): "n m", then m lines "i j w", vertices
// counted from 1. Lines that begin with # are comments.
#pragma once

#include <string>

#include "saltus/io/model_file.hpp"

namespace saltus {

// The first line that is no comment has two whole numbers and nothing else.
bool looks_like_rudy(const std::string& text);

// The cut as an Ising model: cut = log p + W/2 with J = -w/2, W the sum of the weights. Throws
// DataError with the file and the line.
Model read_rudy(std::string text, const std::string& name);

}  // namespace saltus
