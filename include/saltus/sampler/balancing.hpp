// Balancing functions g(t) = t g(1/t), which turn differences d of log p into the weights
// w = g(e^d) of moves: Zanella, "Informed proposals for local MCMC in discrete spaces", JASA 2020.
#pragma once

namespace saltus {

enum class Balancing { sqrt, ratio, min, max };

}  // namespace saltus
