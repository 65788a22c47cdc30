// Models with a few dozen to a few hundred coordinates, one for each way of evaluating them.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/graph.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {

struct LargerTarget {
  std::string name;
  std::unique_ptr<Target> (*make)();
  friend void PrintTo(const LargerTarget& t, std::ostream* out) { *out << t.name; }
};

inline std::vector<double> some_numbers(std::size_t count, double scale, std::uint32_t which) {
  const Stream stream(99, which, 0, Purpose::check);
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = scale * (2 * stream.uniform(static_cast<std::uint32_t>(i)) - 1);
  }
  return numbers;
}

inline std::vector<Coupling> ring(int n, double weight, int reach = 1) {
  std::vector<Coupling> list;
  for (int i = 0; i < n; ++i) {
    for (int step = 1; step <= reach; ++step) list.push_back({i, (i + step) % n, weight});
  }
  return list;
}

inline std::vector<LargerTarget> larger_targets() {
  using Made = std::unique_ptr<Target>;
  return {
      {"lattice", [] { return Made(new IsingLattice(20, 18, true, 0.1, 0.1)); }},
      {"odd_lattice", [] { return Made(new IsingLattice(7, 5, true, 0.1, 0.1)); }},
      {"graph", [] { return Made(make_ising(150, ring(150, 0.2, 2), some_numbers(150, 0.3, 1))); }},
      {"dense",
       [] {
         return Made(make_ising(70, ring(70, 0.05, 20), some_numbers(70, 0.3, 2),
                                Quadratic::Storage::dense));
       }},
      {"ordered",
       [] {
         auto couplings = ring(40, 0.1);
         for (int i = 0; i < 40; ++i) couplings.push_back({i, i, -0.2});
         return Made(new Quadratic("quadratic", Domain::ordered(40, 5), couplings,
                                   some_numbers(40, 0.5, 3)));
       }},
      {"counted_graph",
       [] {
         return Made(new GraphTarget({60,
                                      3,
                                      ring(60, 1, 2),
                                      {0.2, -0.1, 0, -0.1, 0.3, 0.1, 0, 0.1, -0.2},
                                      {0.1, 0, -0.2},
                                      {-0.02, -0.03, 0.01},
                                      20,
                                      0}));
       }},
      {"potts",
       [] {
         std::vector<PottsEdge> edges;
         for (int i = 0; i < 30; ++i) {
           edges.push_back({i, (i + 1) % 30, {.3, 0, -.1, 0, .4, 0, .1, 0, .2}});
         }
         return Made(new Potts(Domain::categorical(30, 3), some_numbers(90, 0.5, 4), edges));
       }},
      {"rbm",
       [] {
         return Made(new Rbm(some_numbers(90 * 40, 0.4, 5), some_numbers(90, 0.5, 6),
                             some_numbers(40, 0.5, 7)));
       }},
      {"poisson", [] { return Made(new Poisson(std::vector<double>(20, 4.0))); }},
      {"function",
       [] {
         return Made(new Function(Domain::binary(20),
                                  [](std::span<const double> v, std::span<double> gradient) {
                                    double sum = 0;
                                    for (double x : v) sum += x;
                                    for (double& g : gradient) g = 0.6 - 0.1 * sum;
                                    return 0.6 * sum - 0.05 * sum * sum;
                                  }));
       }},
  };
}

}  // namespace saltus
