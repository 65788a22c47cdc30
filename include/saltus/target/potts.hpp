// Pairwise models on unordered levels: logp(c) = sum_i unary_i[c_i] + sum_edges table[c_i][c_j].
//
// The extension to one-hot rows is bilinear, so the score of level k at coordinate i is
// unary_i[k] + sum over edges of table[k][c_j]: exact differences for a change of one coordinate.
#pragma once

#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Potts final : public Target, public LocalMoves {
 public:
  explicit Potts(PottsModel model);
  Potts(Domain domain, std::vector<double> unary, std::vector<PottsEdge> edges)
      : Potts(PottsModel{std::move(domain), std::move(unary), std::move(edges)}) {}

  const PottsModel& model() const { return model_; }

  std::string name() const override { return "potts"; }
  const Domain& domain() const override { return model_.domain; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override { return max_degree_; }

 private:
  // An end of an edge: the coordinate at the other one, and the edge's table by rows of this end's
  // levels and by rows of the other's.
  struct End {
    std::int32_t other;
    const double *by_own, *by_other;
  };
  std::span<const End> ends(int i) const;

  template <class T>
  void evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const;

  PottsModel model_;
  std::vector<std::vector<double>>
      transposed_;                       // each edge's table, so that both ends read along it
  std::vector<std::size_t> ends_begin_;  // of each coordinate's ends, and one more
  std::vector<End> ends_;
  int max_degree_ = 0;
};

}  // namespace saltus
