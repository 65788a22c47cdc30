// Pairwise models on unordered levels: logp(c) = sum_i unary_i[c_i] + sum_edges table[c_i][c_j].
//
// The extension to one-hot rows is bilinear, so the score of level k at coordinate i is
// unary_i[k] + sum over edges of table[k][c_j]: exact differences for a change of one coordinate.
#pragma once

#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

struct PottsEdge {
  int i, j;
  std::vector<double> table;  // levels(i) rows of levels(j) entries
};

class Potts final : public Target {
 public:
  // `unary` holds levels(i) entries for each coordinate, one coordinate after the other.
  Potts(Domain domain, std::vector<double> unary, std::vector<PottsEdge> edges);

  std::string name() const override { return "potts"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

 private:
  template <class T>
  void evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const;

  Domain domain_;
  std::vector<double> unary_;
  std::vector<PottsEdge> edges_;
  std::vector<std::vector<double>>
      transposed_;  // each edge's table, so that both ends read along it
};

}  // namespace saltus
