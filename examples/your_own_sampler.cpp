// A sampler of your own: single-flip Metropolis for two-level models, and the proof that it is
// right.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/conformance.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/target/ising_lattice.hpp"

using namespace saltus;

// Proposes to flip one coordinate, chosen uniformly, and accepts with min(1, pi(y) / pi(x)).
class SingleFlip final : public Sampler, public Enumerable {
 public:
  std::string name() const override { return "single-flip"; }
  std::vector<Parameter> parameters() const override { return {}; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }
  Needs needs(const Target&) const override { return {.logp = true, .score = false}; }

  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override {
    Tile& y = work.proposal;
    for (int r = 0; r < tile.rows(); ++r) {
      std::copy_n(tile.x[r], tile.x.cols, y.x[r]);
      const Stream random = work.stream(tile, r, Purpose::propose);  // a function, no generator
      y.x[r][static_cast<int>(random.uniform() * tile.x.cols)] ^= 1;
      info[static_cast<std::size_t>(r)].proposed = 1;
    }
    evaluate_logp(target, tile, work);
    for (int r = 0; r < tile.rows(); ++r) {
      test_state(y.logp[r] - tile.logp[r], tile, r, work, info[static_cast<std::size_t>(r)]);
    }
    ++tile.step;
  }

  // The same step as probabilities, for all states of a small model.
  const Enumerable* enumerable() const override { return this; }
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
