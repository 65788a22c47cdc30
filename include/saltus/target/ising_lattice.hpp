// The paper's Ising model on a rectangular lattice: logp(s) = a s'Ws + b sum_i s_i, s in {-1,
// +1}^d, W the 0/1 adjacency matrix, so every edge counts twice (LatticeModel says more).
#pragma once

#include <array>
#include <memory>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class IsingLattice final : public Target, public LocalMoves, public GibbsSweeps, public Relaxation {
 public:
  explicit IsingLattice(const LatticeModel& model);  // of two sides
  IsingLattice(int rows, int cols, bool periodic, double a, double b)
      : IsingLattice(LatticeModel{{rows, cols}, periodic, a, b}) {}

  const LatticeModel& model() const { return model_; }

  std::string name() const override { return "ising-lattice"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  std::vector<int> shape() const override { return model_.shape; }

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override { return 4; }

  const Relaxation* relaxation() const override { return this; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  // Groups: the colours of the chessboard, where neighbours have different ones.
  const GibbsSweeps* gibbs_sweeps() const override { return this; }
  void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order, const Draws& draws,
              std::uint32_t* changed) const override;
  int groups() const override;
  void update_group(const At& at, Rows<Symbol> x, int group, const Draws& draws,
                    std::uint32_t* changed) const override;
  std::vector<std::int32_t> group(int colour) const override;

  // A heat bath sets a spin to +1 when its random word of 31 bits is below this: P(+1) in units of
  // 2^-31, given the sum of the neighbours' spins.
  static std::uint32_t gibbs_threshold(double a, double b, int sum_of_neighbours);

 private:
  int neighbour_sum(const Symbol* x, int i) const;

  // P(s_i = +1 | neighbours) in units of 2^-31, by number of neighbours and how many are +1.
  using Thresholds = std::array<std::array<std::uint32_t, 5>, 5>;
  static Thresholds gibbs_thresholds(double a, double b);

  LatticeModel model_;
  int rows_, cols_;
  Domain domain_;
  Thresholds thresholds_;
};

// The edges of the lattice as couplings of weight 2 a.
std::vector<Coupling> lattice_edges(const LatticeModel& model);

// The model on a lattice with any number of sides: IsingLattice where there are two.
std::unique_ptr<Target> make_lattice(const LatticeModel& model);

}  // namespace saltus
