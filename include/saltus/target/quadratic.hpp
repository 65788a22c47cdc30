// Log-quadratic models: logp(v) = sum over entries w v_i v_j + sum_i b_i v_i, on ordered levels.
//
// The gradient is S v + b with the symmetric S = A + A'. A diagonal entry stays in the gradient
// (2 w v_i), where it acts like a change of the step size; see docs/correctness.md.
#pragma once

#include <memory>
#include <vector>

#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Quadratic final : public Target, public LocalMoves, public GibbsSweeps, public Relaxation {
 public:
  // Storage::automatic keeps the matrix dense when more than a quarter of it is filled and it has
  // at least 32 rows. Dense models compute logp in single precision, sparse ones in double.
  enum class Storage { automatic, sparse, dense };
  Quadratic(std::string name, Domain domain, const std::vector<Coupling>& couplings,
            std::vector<double> field, Storage storage = Storage::automatic, double constant = 0);
  explicit Quadratic(const QuadraticModel& model, Storage storage = Storage::automatic)
      : Quadratic("quadratic", model.domain, model.couplings, model.field, storage,
                  model.constant) {}
  ~Quadratic() override;

  // An equal model, in which each pair is listed once; without labels.
  QuadraticModel model() const;

  // Another matrix S = A + A', symmetric and by rows, and another field, for a dense model;
  // evaluations from before no longer count.
  void set_matrix(std::span<const float> symmetric, std::span<const float> field);

  // What the coordinates are the cells of, in pages and files of draws; one row unless it is said.
  void set_shape(std::vector<int> shape);
  std::vector<int> shape() const override { return shape_; }

  std::string name() const override { return name_; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  bool cheap_near() const override { return dense(); }
  void evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                     Rows<float> score, Rows<float> cache) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  int preferred_tile() const override { return dense() ? 64 : 16; }
  bool dense() const;

  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return true; }
  bool need_score() const override { return dense(); }  // a sum over all coordinates otherwise
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int i, std::int32_t* room) const override;
  int max_neighbours() const override;

  const Relaxation* relaxation() const override { return domain_.two_level() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

  // With two levels.
  const GibbsSweeps* gibbs_sweeps() const override { return domain_.two_level() ? this : nullptr; }
  void update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order, const Draws& draws,
              std::uint32_t* changed) const override;

 private:
  struct Matrix;
  std::string name_;
  Domain domain_;
  std::vector<int> shape_;
  std::vector<double> field_;
  std::vector<float> field_single_;
  double constant_ = 0;  // of log p
  std::unique_ptr<Matrix> matrix_;
};

std::unique_ptr<Quadratic> make_ising(const IsingModel& model);
std::unique_ptr<Quadratic> make_ising(int n, const std::vector<Coupling>& couplings,
                                      std::vector<double> field,
                                      Quadratic::Storage storage = Quadratic::Storage::automatic,
                                      double constant = 0);

}  // namespace saltus
