// A sampler of your own: single-flip Metropolis for two-level models. A name and a step are enough
// to draw with it; its exact transition probabilities prove that it is right.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/conformance.hpp"
#include "saltus/sample.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/target/ising_lattice.hpp"

using namespace saltus;

// Proposes to flip one coordinate, chosen uniformly, and accepts with min(1, pi(y) / pi(x)).
class SingleFlip : public Sampler {
 public:
  std::string name() const override { return "single-flip"; }

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

  // Optional: log p is all that the step needs, so the gradient need not be computed.
  Needs needs(const Target&) const override { return {.logp = true, .score = false}; }
};

// Optional, and only for the proof: the same step as probabilities, for all states of a small
// model.
class ProvenSingleFlip final : public SingleFlip, public Enumerable {
 public:
  bool reversible() const override { return true; }  // to be proved, too
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
  // 1. Draw with it.
  SampleRequest request(std::make_shared<IsingLattice>(4, 4, true, 0.1, 0.2));
  request.own_sampler = std::make_shared<SingleFlip>();
  request.plan.thin = 16;  // a sweep
  const SampleResult result = sample(request);
  const CoordinateSummary& spin = result.summaries[0];
  const double exact = result.exact->means[0];
  std::printf("mean of the first spin: %.4f +- %.4f, exactly %.4f\n", spin.mean, spin.mcse, exact);

  // 2. Prove it.
  const ProvenSingleFlip sampler;
  const IsingLattice small(2, 3, true, 0.15, 0.2);
  const StateTable table(small);
  const Conformance c = check_transitions(sampler, table);
  const StepCheck s = check_steps(sampler, small, table, 10000);
  std::printf("invariance defect %.1e, reversibility defect %.1e\n", c.invariance, c.reversibility);
  std::printf("%llu steps follow the matrix: p = %.3f\n", static_cast<unsigned long long>(s.steps),
              s.p_value);
  return std::abs(spin.mean - exact) < 5 * spin.mcse && c.invariance < 1e-12 &&
                 c.reversibility < 1e-12 && s.p_value > 1e-4
             ? 0
             : 1;
}
