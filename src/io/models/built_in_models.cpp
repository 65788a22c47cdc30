// The models that saltus knows by name: one of each kind, small enough to check exactly, and the
// paper's.
#include "saltus/io/model_file.hpp"

namespace saltus {

const std::vector<BuiltInModel>& built_in_models() {
  static const std::vector<BuiltInModel> models = {
      {"ising-lattice", "the paper's 5 x 5 periodic Ising lattice, a = 0.1, b = 0.2 (the default)",
       R"({"model": "ising-lattice", "shape": [5, 5], "periodic": true, "a": 0.1, "b": 0.2})"},
      {"ising-2x2", "the paper's 2 x 2 Ising lattice for the bias of DULA, a = 0.1, b = 0.2",
       R"({"model": "ising-lattice", "shape": [2, 2], "periodic": true, "a": 0.1, "b": 0.2})"},
      {"ising-100x100",
       "a 100 x 100 periodic Ising lattice near its critical point, a = 0.2, b = 0",
       R"({"model": "ising-lattice", "shape": [100, 100], "periodic": true, "a": 0.2, "b": 0})"},
      {"ising", "a frustrated spin glass of 8 spins",
       R"({"model": "ising", "n": 8,
           "couplings": [[0, 1, 0.5], [1, 2, -0.4], [2, 3, 0.6], [3, 4, -0.5], [4, 5, 0.3],
                         [5, 6, 0.7], [6, 7, -0.6], [0, 7, 0.4], [0, 4, -0.3], [1, 5, 0.5],
                         [2, 6, -0.2], [3, 7, 0.4]],
           "fields": [0.1, -0.2, 0.3, 0, -0.1, 0.2, 0, 0.15]})"},
      {"bernoulli", "six independent bits",
       R"({"model": "bernoulli", "logits": [-2, -1, -0.3, 0.3, 1, 2]})"},
      {"quadratic", "four ordered coordinates of five levels, coupled in a chain",
       R"({"model": "quadratic", "levels": 5,
           "A": [[0, 0, -0.3], [1, 1, -0.3], [2, 2, -0.3], [3, 3, -0.3],
                 [0, 1, 0.15], [1, 2, 0.15], [2, 3, 0.15]],
           "b": [1.02, 0.6, 0.6, 0.8]})"},
      {"potts", "two coupled sites of three unordered levels",
       R"({"model": "potts", "levels": [3, 3], "unary": [[0.3, -0.5, 1.1], [-0.2, -0.9, 0.7]],
           "pairwise": [{"between": [0, 1],
                         "table": [[0.5, -0.3, 0.2], [0.1, 0.8, -0.6], [-0.4, 0.3, 0.9]]}]})"},
      {"rbm", "a restricted Boltzmann machine with 3 visible and 2 hidden units",
       R"({"model": "rbm", "weights": [[0.8, -1.2, 0.5], [-0.4, 0.9, 1.5]],
           "visible_bias": [-0.2, 0.4, -0.6], "hidden_bias": [0.1, -0.3]})"},
      {"poisson", "three Poisson counts with rates 0.5, 3 and 10",
       R"({"model": "poisson", "rate": [0.5, 3, 10]})"},
  };
  return models;
}

}  // namespace saltus
