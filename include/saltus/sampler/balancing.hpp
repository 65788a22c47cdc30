// Balancing functions g with g(t) = t g(1/t), by which locally informed proposals weigh a change of
// log p by d: w = g(exp(d)). Zanella, "Informed proposals for local MCMC in discrete spaces", JASA
// 2020.
#pragma once

namespace saltus {

enum class Balancing {
  sqrt,   // sqrt(t)
  ratio,  // t / (1 + t)
  min,    // min(1, t)
  max,    // max(1, t)
};

}  // namespace saltus
