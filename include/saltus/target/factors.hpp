// Factor graphs: tables and clauses over any coordinates (FactorsModel), with states that are
// forbidden where an entry is -infinity or a clause is hard.
//
// The extension is multilinear, so the score of level k at coordinate i, read from the tables, is
// the exact change of log p when i alone takes that level; that of the present level is 0. Where
// some state is forbidden, scores have a floor: a change that is forbidden on its own counts as one
// of -floor, so that proposals which change several coordinates can cross forbidden states, and
// log q uses the same scores both ways. log p and differences have no floor.
#pragma once

#include <optional>
#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Factors final : public Target, public LocalMoves, public ForbiddenStates {
 public:
  // 2 log(dim), from 4 to 20: DMALA proposes a forbidden change with a probability of at most about
  // exp(-floor / 2), so that of all coordinates about one at a time makes such a change.
  static double usual_floor(int dim);

  // Throws DataError when the model's values do not fit one another.
  explicit Factors(FactorsModel model, std::optional<double> floor = {});
  double floor() const { return floor_; }

  // An equal model, with a table for each coordinate that has one of its own.
  FactorsModel model() const;

  std::string name() const override { return "factors"; }
  // Bits where all coordinates have two levels, otherwise unordered levels.
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override { return max_neighbours_; }

  const ForbiddenStates* forbidden_states() const override { return forbids_ ? this : nullptr; }
  double penalty() const override { return penalty_; }
  // Draws the coordinates anew, each from the factors that it completes and parents before their
  // child, the last coordinate of a table: for Bayesian networks. Where that meets a dead end again
  // and again, or there are clauses alone, by changing, one at a time, a coordinate of a factor
  // that forbids the state: the one that leaves the fewest such factors, or any.
  bool make_allowed(const Stream& stream, Symbol* x) const override;

 private:
  class Ancestral;
  class Repair;
  // A place in the list of the factors of a coordinate.
  struct End {
    std::int32_t table, stride;
  };
  using Literal = FactorsModel::Literal;

  bool two_level() const { return domain_.two_level(); }
  void check() const;
  void merge_unary();
  void tidy_clauses();
  void find_penalty();
  void list_ends();
  std::vector<std::int32_t> ancestral_order() const;
  // Where the levels of coordinate i begin in lists of all levels.
  std::size_t levels_begin(int i) const;
  std::size_t entry_of(std::size_t table, const Symbol* x) const;
  // How many literals hold beside those of coordinate `without`, up to two; of the last one found,
  // which.
  int holding(std::size_t clause, const Symbol* x, int without, const Literal** holder) const;
  // Add what a factor says of every level of its coordinates; return what it adds to log p.
  double add_table(std::size_t table, const Symbol* x, double* sums) const;
  double add_clause(std::size_t clause, const Symbol* x, double* sums) const;
  double bounded(double difference) const;
  template <class T>
  void write_scores(const Symbol* x, const double* sums, T* score) const;
  template <class T>
  void evaluate_rows(const At& at, Rows<const Symbol> x, double* logp, Rows<T> score) const;
  void write_score(const Symbol* x, int i, float* score) const;

  // In these tables and weights `penalty_` stands for infinity. Tables of one coordinate are in
  // unary_ alone. Literals of a clause are sorted, each there once; a clause that always holds is
  // left out.
  FactorsModel model_;
  Domain domain_;
  double floor_, penalty_ = 0;
  bool forbids_ = false;
  std::vector<double> unary_;
  std::vector<std::int32_t> strides_;  // beside model_.scopes
  std::vector<std::size_t> ends_begin_, clauses_begin_;
  std::vector<End> ends_;
  std::vector<std::int32_t> clauses_of_;
  int max_neighbours_ = 0;
};

}  // namespace saltus
