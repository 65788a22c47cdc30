// Models as values. Include this to read, write or move the parameters of a model: files are read
// into these structs and written from them, targets are made from them and give them back, and
// devices copy them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/model/labels.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus {

class Independent;
class Target;

// Independent bits: logp(x) = sum_i logits_i x_i + constant. Files have no constant, here and for
// RbmModel: it comes from values that are given (condition.hpp).
struct BernoulliModel {
  std::vector<double> logits;
  double constant = 0;
  Labels labels = {};
};

// Independent counts: logp(x) = sum_i x_i log(rates_i) - log(x_i!).
struct PoissonModel {
  std::vector<double> rates;
};

// One term w v_i v_j.
struct Coupling {
  int i, j;
  double weight;
};

// Spins on any graph; each pair is listed once, and no pair (i, i). A constant is part of log p,
// here and below.
struct IsingModel {
  int n = 0;
  std::vector<Coupling> couplings;
  std::vector<double> fields;
  double constant = 0;
  Labels labels = {};
};

// Spins on a lattice with sides of these lengths, the last one changing fastest: logp(s) = a s'Ws +
// b sum_i s_i, W the 0/1 adjacency matrix, so that each edge counts twice. Along a periodic side of
// length two its two sites have one edge, not two.
struct LatticeModel {
  std::vector<int> shape;
  bool periodic = false;
  double a = 0, b = 0;
  double constant = 0;
};

// logp(v) = sum over couplings w v_i v_j + sum_i field_i v_i, on ordered levels.
struct QuadraticModel {
  Domain domain;
  std::vector<Coupling> couplings;
  std::vector<double> field;
  double constant = 0;
  Labels labels = {};
};

struct PottsEdge {
  int i, j;
  std::vector<double> table;  // levels(i) rows of levels(j) entries
};

// logp(c) = sum_i unary_i[c_i] + sum over edges table[c_i][c_j], on categorical levels.
struct PottsModel {
  Domain domain;
  std::vector<double> unary;  // levels(i) entries for each coordinate, one after the other
  std::vector<PottsEdge> edges;
  double constant = 0;
  Labels labels = {};
};

// Vertices of a graph with one table for all edges, and terms of how many vertices have each level:
//
//   logp(x) = constant + sum over edges w pair[x_i][x_j]
//             + sum over levels k of linear_k n_k + square_k (n_k - centre)^2,
//
// n_k the number of vertices at level k. Such models are those of large sparse graphs: see
// GraphTarget.
struct GraphModel {
  int n = 0, levels = 2;
  std::vector<Coupling> edges;         // no pair (i, i)
  std::vector<double> pair;            // levels rows of levels entries, symmetric
  std::vector<double> linear, square;  // one for each level
  double centre = 0;
  double constant = 0;
};

// logp(x) = constant + sum over tables T[x_i, x_j, ...] - sum over clauses of the weight of each
// that no literal satisfies. Tables may be over any coordinates and hold -infinity; a clause of
// infinite weight is hard. All lists lie one after the other, so that millions of factors fit.
struct FactorsModel {
  // Holds where the coordinate has the level.
  struct Literal {
    std::int32_t coordinate;
    Symbol level;
    bool operator==(const Literal&) const = default;
  };

  std::vector<int> levels;  // of each coordinate, from 1 on
  double constant = 0;
  std::vector<std::int32_t> scopes;  // of all tables; the last coordinate of a scope runs fastest
  std::vector<std::size_t> scope_begin{0};
  std::vector<double> entries;  // of all tables
  std::vector<std::size_t> entry_begin{0};
  std::vector<Literal> literals;  // of all clauses
  std::vector<std::size_t> clause_begin{0};
  std::vector<double> weights;  // of each clause
  Labels labels = {};

  std::size_t tables() const { return scope_begin.size() - 1; }
  std::size_t clauses() const { return weights.size(); }
  std::span<const std::int32_t> scope(std::size_t table) const {
    return std::span(scopes).subspan(scope_begin[table],
                                     scope_begin[table + 1] - scope_begin[table]);
  }
  std::span<const double> table(std::size_t t) const {
    return std::span(entries).subspan(entry_begin[t], entry_begin[t + 1] - entry_begin[t]);
  }
  std::span<const Literal> clause(std::size_t c) const {
    return std::span(literals).subspan(clause_begin[c], clause_begin[c + 1] - clause_begin[c]);
  }
  void add_table(std::span<const std::int32_t> scope, std::span<const double> log_values);
  void add_clause(std::span<const Literal> clause, double weight);
};

// logp(x) = sum_h softplus((W x + c)_h) + b'x + constant.
struct RbmModel {
  std::vector<double> weights;  // W: hidden rows of visible entries, one row after the other
  std::vector<double> visible_bias, hidden_bias;
  double constant = 0;
};

// A TorchScript program that computes log p; what its states are stands beside it.
struct ScriptModel {
  std::filesystem::path file;
  Domain domain;
};

using AnyModel =
    std::variant<BernoulliModel, FactorsModel, GraphModel, IsingModel, LatticeModel, PoissonModel,
                 PottsModel, QuadraticModel, RbmModel, ResnetEnergy, ScriptModel>;

// Throws DataError or UsageError when the values do not fit one another. Networks are made by the
// torch module (saltus/torch/module.hpp) instead.
std::unique_ptr<Target> make_target(const AnyModel& model);

// What a model calls its coordinates and levels; empty where it has no names.
const Labels& labels_of(const AnyModel& model);

// log p of the model times beta. Throws UsageError for models that hold no plain numbers to
// multiply.
AnyModel scaled(AnyModel model, double beta);

// The independent law that a model has as a part of itself, from which annealing and tempering may
// start; none for most.
std::optional<Independent> model_base(const AnyModel& model);

}  // namespace saltus
