// A distribution between an independent base p_0 and a model p, at the inverse temperature beta:
//
//   log p_beta = beta log p + (1 - beta) log p_0,
//
// and the same of scores. What is stored is the model's own; this mixes it with the base where it
// is used, on the host as on a GPU.
#pragma once

#include "saltus/core/both.hpp"

namespace saltus {

struct Tempering {
  double beta = 1;

  // At beta = 0 the model's log p, which may be infinite, does not count.
  SALTUS_BOTH double logp(double model, double base) const {
    return (beta == 0 ? 0 : beta * model) + (1 - beta) * base;
  }
  // In single or in double precision.
  template <class T>
  SALTUS_BOTH T score(T model, T base) const {
    return static_cast<T>(beta) * model + static_cast<T>(1 - beta) * base;
  }
  // What is added to the log weight of an annealed chain when beta becomes `next`.
  SALTUS_BOTH double log_weight(double next, double model, double base) const {
    return (next - beta) * (model - base);
  }
};

}  // namespace saltus
