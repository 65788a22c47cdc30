// A sampler of your own: single-flip Metropolis for two-level models, and the proof that it is
// right.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/conformance.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/metropolis.hpp"
#include "saltus/target/ising_lattice.hpp"

using namespace saltus;

// Proposes to flip one coordinate, chosen uniformly, and accepts with min(1, pi(y) / pi(x)).
class SingleFlip final : public Sampler {
 public:
  std::string name() const override { return "single-flip"; }
  std::vector<Parameter> parameters() const override { return {}; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }
  Needs needs(const Target&) const override { return {.logp = true, .score = false}; }

  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override {
    Tile& y = work.proposal;
    const int rows = tile.rows(), dim = tile.x.cols;
    const auto stream = [&](int r, Purpose purpose) {  // randomness is a function, not a generator
      return Stream(work.seed, tile.first_chain + static_cast<std::uint32_t>(r), tile.step,
                    purpose);
    };
    for (int r = 0; r < rows; ++r) {
      std::copy_n(tile.x[r], dim, y.x[r]);
      const int i = static_cast<int>(stream(r, Purpose::propose).uniform() * dim);
      y.x[r][i] = static_cast<Symbol>(1 - y.x[r][i]);
    }
    // Only log p is needed: the score is not asked for.
    target.evaluate(work.at(tile.step + 1), {y.x.data, rows, dim, y.x.stride}, y.logp, {});
    work.evaluations.logp += static_cast<std::uint64_t>(rows);
    for (int r = 0; r < rows; ++r) {
      StepInfo& done = info[static_cast<std::size_t>(r)];
      done.proposed = 1;
      if (!metropolis(y.logp[r] - tile.logp[r], stream(r, Purpose::accept).uniform(), done))
        continue;
      std::copy_n(y.x[r], dim, tile.x[r]);
      tile.logp[r] = y.logp[r];
    }
    tile.score_current = false;  // nobody looked after it
    ++tile.step;
  }

  // The same step as probabilities, for all states of a small model.
  void transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                         std::span<double> acceptance) const override {
    const int dim = table.domain().dim();
    for (std::size_t s = 0; s < table.size(); ++s) {
      double* row = matrix[static_cast<int>(s)];
      std::fill_n(row, table.size(), 0.0);
      acceptance[s] = 0;
      for (int i = 0; i < dim; ++i) {
        std::vector<Symbol> y(table.state(s), table.state(s) + dim);
        y[static_cast<std::size_t>(i)] ^= 1;
        const std::size_t t = table.index(y.data());
        const double accept = std::min(1.0, std::exp(table.logp(t) - table.logp(s)));
        row[t] += accept / dim;
        row[s] += (1 - accept) / dim;
        acceptance[s] += accept / dim;
      }
    }
  }
};

int main() {
  const SingleFlip sampler;
  const IsingLattice small(2, 3, true, 0.15, 0.2);
  const StateTable table(small);
  const Conformance c = check_transitions(sampler, table);
  const StepCheck s = check_steps(sampler, small, table, 10000);
  std::printf("invariance defect %.1e, reversibility defect %.1e\n", c.invariance, c.reversibility);
  std::printf("%llu steps follow the matrix: p = %.3f\n", static_cast<unsigned long long>(s.steps),
              s.p_value);

  const IsingLattice model(20, 20, true, 0.1, 0.2);
  RunPlan plan;
  plan.thin = 400;  // a sweep
  plan.draws = 200;
  Moments moments(model.domain(), plan.chains, plan.draws, true);
  Run run(model, std::make_unique<SingleFlip>(), plan);
  run.add(moments);
  run.start();
  run.go();
  std::printf("20 x 20 lattice: acceptance %.3f, mean of the first spin %.3f\n",
              run.statistics().acceptance, moments.mean()[0]);
  return c.invariance < 1e-12 && c.reversibility < 1e-12 && s.p_value > 1e-4 ? 0 : 1;
}
