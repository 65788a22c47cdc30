// A graph with 16 vertices and weights of both signs, as a rudy file and as a model. Its largest
// cut is 9, log p 14, in 6 states.
#pragma once

#include <sstream>
#include <string>

#include "saltus/target/quadratic.hpp"

namespace saltus {

inline const char* const kCut16 =
    "16 58\n1 2 -1\n1 4 1\n1 5 -1\n1 6 1\n1 9 -1\n1 10 1\n1 11 -1\n1 12 1\n1 13 1\n1 16 1\n"
    "2 3 -1\n2 7 -1\n2 8 -1\n2 9 1\n2 12 1\n2 15 -1\n2 16 1\n3 4 1\n3 6 1\n3 7 -1\n3 8 -1\n"
    "3 10 -1\n3 13 -1\n3 14 -1\n4 9 1\n4 11 1\n4 12 1\n4 13 -1\n5 6 1\n5 7 -1\n5 10 -1\n"
    "5 12 -1\n5 13 -1\n5 14 -1\n6 8 -1\n6 10 1\n6 15 1\n7 8 1\n7 9 -1\n7 11 1\n8 9 -1\n"
    "8 10 1\n9 10 -1\n9 11 -1\n9 12 -1\n9 13 -1\n9 14 1\n10 11 -1\n10 12 1\n10 14 -1\n"
    "10 15 -1\n11 12 -1\n11 14 -1\n11 16 1\n13 14 1\n13 15 -1\n14 16 -1\n15 16 -1\n";

inline IsingModel cut16_model() {
  std::istringstream text(kCut16);
  IsingModel model;
  int edges = 0, i = 0, j = 0;
  double weight = 0;
  text >> model.n >> edges;
  while (text >> i >> j >> weight) model.couplings.push_back({i - 1, j - 1, -weight / 2});
  model.fields.resize(static_cast<std::size_t>(model.n));
  return model;
}

inline std::shared_ptr<const Target> cut16() {
  return make_ising(cut16_model());
}

}  // namespace saltus
