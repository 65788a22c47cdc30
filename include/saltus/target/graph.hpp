// Problems on large sparse graphs whose log p also depends on how many vertices have each level:
// cliques, parts of equal size. Written as pairs, such models couple all vertices with one another;
// here a change of one vertex costs its neighbours alone. GraphModel says what log p is.
//
// The score is that of exact differences: log p with the other level at a vertex, or with each of
// its levels, beside the others as they are.
#pragma once

#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class GraphTarget final : public Target, public LocalMoves, public GibbsSweeps, public Relaxation {
 public:
  // Throws DataError when the model's values do not fit one another.
  explicit GraphTarget(GraphModel model);

  const GraphModel& model() const { return model_; }

  std::string name() const override { return "graph"; }
  // Bits where there are two levels, otherwise unordered levels.
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  // How many vertices have each level: whole numbers, which single precision holds exactly.
  int cache_size() const override { return model_.levels; }
  void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override;

  // The score of every vertex depends on the counts, so that moves do not keep it.
  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return false; }
  bool need_target_cache() const override { return true; }
  bool in_double() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override { return model_.n; }
  int work() const override { return max_degree_ + model_.levels; }

  // One vertex after the other, with the counts at hand.
  const GibbsSweeps* gibbs_sweeps() const override { return this; }
  void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order, const Draws& draws,
              std::uint32_t* changed) const override;

  // Linear in each coordinate: n_k^2 counts pairs of different vertices, and n_k.
  const Relaxation* relaxation() const override { return domain_.two_level() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

 private:
  struct End {
    std::int32_t other;
    double weight;
  };
  std::span<const End> ends(int i) const;
  // Whether the neighbours at each level can be counted in the parts of one word.
  bool countable() const;
  double count_term(int level, double count) const;
  // What a vertex adds to log p when it joins so many others at a level, without its edges.
  double joining(int level, double others) const;
  // Writes what the edges of a vertex add at each of its levels.
  void add_up_edges(const Symbol* x, int i, double* sums) const;
  template <class T>
  void evaluate_rows(const At& at, Rows<const Symbol> x, double* logp, Rows<T> score) const;
  template <class T>
  double write_scores(const Symbol* x, const double* counts, double* sums, T* score) const;

  GraphModel model_;
  Domain domain_;
  std::vector<std::size_t> ends_begin_;
  std::vector<End> ends_;
  std::vector<std::int32_t> others_;  // of ends_, where neighbours are counted; otherwise empty
  int max_degree_ = 0;
};

}  // namespace saltus
