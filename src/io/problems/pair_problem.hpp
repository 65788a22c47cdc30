// Energies of two-level variables with pairs: what most formats hold, before it is a model.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/io/model_file.hpp"

namespace saltus {

// E(v) = offset + sum_i linear_i v_i + sum over pairs w v_i v_j, v in {-1, +1} or {0, 1}.
struct PairProblem {
  bool spins = false;
  std::vector<double> linear;  // one for each variable
  std::vector<Coupling> pairs;
  double offset = 0;
  Labels labels;

  int size() const { return static_cast<int>(linear.size()); }
};

// log p = -beta E, or beta E where it is to be maximised: an IsingModel or a QuadraticModel.
AnyModel model_of(PairProblem problem, double beta, bool maximise = false);
// The same with the energy as the objective.
Model energy_model(PairProblem problem, const ProblemOptions& options);

// E = -log p of a model that has two levels and pairs; nothing for others.
std::optional<PairProblem> pair_problem_of(const AnyModel& model);
// The same energy in {-1, +1}, or in {0, 1}.
PairProblem as_spins(PairProblem problem);
PairProblem as_bits(PairProblem problem);

// The first entry that repeats the pair of one before it, in either order.
std::optional<std::size_t> first_repeated(std::span<const Coupling> pairs);
// Adds up entries of the same pair. Each is then listed once, with i < j, in increasing order.
void add_up(std::vector<Coupling>& pairs);

// Labels as they are shown: none where they are 0 to n - 1.
Labels number_labels(std::span<const std::int64_t> labels);

}  // namespace saltus
