// The models that are timed. Each is the same in every run.
#pragma once

#include <memory>
#include <vector>

#include "saltus/target/target.hpp"

namespace saltus::bench {

// The paper's Ising model: periodic, a = 0.1, b = 0.2.
std::unique_ptr<Target> lattice(int side);
// Spins on a random graph in which nearly every site has `degree` (an even number of) neighbours;
// couplings and fields uniform in +-0.2, the strength of the lattice's.
std::unique_ptr<Target> random_graph(int n, int degree);
// Spins that are all coupled to one another, each pair by a normal-sized number
// times strength / sqrt(n).
std::unique_ptr<Target> dense_spins(int n, double strength = 1);
// Ordered levels on a ring, pulled towards the middle level.
std::unique_ptr<Target> ordered_ring(int n, int levels);
// Categorical levels on a square grid; equal neighbours are favoured.
std::unique_ptr<Target> potts_grid(int side, int levels);
// Independent categorical coordinates: `positions` words from a vocabulary of `levels`.
std::unique_ptr<Target> words(int positions, int levels);
std::unique_ptr<Target> poisson(int n);
// About one bit in six is on, as in pictures of digits; weights have the size 0.1 * strength.
std::unique_ptr<Target> rbm(int visible, int hidden, double strength = 1);

// Reproducible numbers, uniform in (low, high).
std::vector<double> uniform_numbers(std::size_t count, double low, double high);

}  // namespace saltus::bench
