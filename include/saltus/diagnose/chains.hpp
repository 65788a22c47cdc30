// One scalar quantity along several chains, read one chain at a time so that a long run need not
// fit in memory. The argument of every diagnostic.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "saltus/core/rows.hpp"

namespace saltus {

struct Chains {
  int chains = 0;
  std::size_t draws = 0;                                       // per chain
  std::function<void(int chain, std::span<double> out)> read;  // out has `draws` entries
};

// Rows of an array as chains.
inline Chains chains_of(Rows<const double> x) {
  return {x.rows, static_cast<std::size_t>(x.cols), [x](int chain, std::span<double> out) {
            for (std::size_t t = 0; t < out.size(); ++t) out[t] = x[chain][t];
          }};
}

}  // namespace saltus
