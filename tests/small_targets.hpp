// One small target of every kind, for exact tests.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "factor_models.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/factors.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/graph.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {

struct SmallTarget {
  std::string name;
  std::function<std::unique_ptr<Target>()> make;
  int levels = 64;  // where an unbounded domain is cut off

  friend void PrintTo(const SmallTarget& t, std::ostream* out) { *out << t.name; }
};

// A logp that is not log-quadratic, on bits: log of a sum.
inline double curved_logp(std::span<const double> v, std::span<double> gradient) {
  const double w[2][3] = {{0.8, -1.2, 0.5}, {-0.4, 0.9, 1.5}}, c[2] = {0.1, -0.3},
               b[3] = {-0.2, 0.4, -0.6};
  double logp = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    logp += b[i] * v[i];
    if (!gradient.empty()) gradient[i] = b[i];
  }
  for (std::size_t h = 0; h < 2; ++h) {
    const double z = w[h][0] * v[0] + w[h][1] * v[1] + w[h][2] * v[2] + c[h];
    logp += std::log1p(std::exp(z));
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += w[h][i] / (1 + std::exp(-z));
  }
  return logp;
}

inline std::vector<SmallTarget> small_targets() {
  using Made = std::unique_ptr<Target>;
  return {
      {"lattice", [] { return Made(new IsingLattice(2, 3, true, 0.15, 0.2)); }},
      {"ising",
       [] {
         return Made(make_ising(4, {{0, 1, 0.6}, {1, 2, -0.5}, {2, 3, 0.4}, {0, 3, 0.3}},
                                {0.1, -0.3, 0.2, 0})
                         .release());
       }},
      {"dense_ising",
       [] {
         return Made(make_ising(4, {{0, 1, 0.6}, {1, 2, -0.5}, {0, 2, 0.4}, {0, 3, 0.3}},
                                {0.1, -0.3, 0.2, 0}, Quadratic::Storage::dense)
                         .release());
       }},
      {"bernoulli",
       [] {
         return Made(new Bernoulli({-1.5, 0.2, 2}));
       }},
      {"curved", [] { return Made(new Function(Domain::binary(3), curved_logp, "curved")); }},
      {"batch",
       [] {
         return Made(new BatchFunction(Domain::binary(3), [](const BatchCall<double>& call) {
           for (int r = 0; r < call.rows; ++r) {
             call.logp[static_cast<std::size_t>(r)] = curved_logp(
                 call.values.row(r), call.score ? call.score.row(r) : std::span<double>());
           }
         }));
       }},
      {"ordered",
       [] {
         return Made(new Quadratic("ordered", Domain::ordered({4, 3, 2}),
                                   {{0, 0, -0.2}, {0, 1, 0.3}, {1, 2, -0.4}}, {0.5, 0.1, 0.3}));
       }},
      {"rbm",
       [] {
         return Made(new Rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3}));
       }},
      {"potts",
       [] {
         return Made(new Potts(
             Domain::categorical({3, 2, 4}), {.3, -.5, 1.1, .2, -.1, 0, .4, -.6, .2},
             {{0, 1, {.5, -.3, .2, .1, .8, -.6}}, {1, 2, {.3, -.2, .5, .1, -.4, .2, 0, .6}}}));
       }},
      {"factors", [] { return Made(new Factors(uneven_factors())); }},
      {"graph_bits",
       [] {
         return Made(new GraphTarget({3,
                                      2,
                                      {{0, 1, 0.7}, {2, 1, 0.7}},
                                      {0.1, -0.2, -0.2, 0.9},
                                      {0.2, 1.1},
                                      {0.1, -0.4},
                                      0.5,
                                      0.3}));
       }},
      {"poisson",
       [] {
         return Made(new Poisson({0.7, 2.0}));
       },
       24},
  };
}

// Targets with states of probability 0.
inline std::vector<SmallTarget> forbidding_targets() {
  using Made = std::unique_ptr<Target>;
  return {{"equal_bits", [] { return Made(new Factors(equal_bits())); }},
          {"hard_clauses", [] { return Made(new Factors(hard_clauses())); }},
          {"forbidden_levels", [] {
             FactorsModel m = uneven_factors();
             m.add_table(std::vector<std::int32_t>{0, 3},
                         std::vector{kMinusInfinity, 0.2, 0.0, 0.1, kMinusInfinity, -0.3, 0.0, 0.4,
                                     kMinusInfinity});
             return Made(new Factors(std::move(m)));
           }}};
}

}  // namespace saltus
