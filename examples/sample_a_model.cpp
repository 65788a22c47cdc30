// Draws from the paper's 5 x 5 Ising model with DMALA and compares the means with the exact ones.
#include <cmath>
#include <cstdio>

#include "saltus/sample.hpp"
#include "saltus/target/ising_lattice.hpp"

using namespace saltus;

int main() {
  SampleRequest request(std::make_shared<IsingLattice>(5, 5, /*periodic=*/true, /*a=*/0.1,
                                                       /*b=*/0.2));
  // 4 chains, 1000 warm-up steps in which the step size is tuned, then:
  request.plan.draws = 50000;
  request.plan.seed = 2022;
  const SampleResult result = sample(request);

  const CoordinateSummary& spin = result.summaries[0];
  const double exact = result.exact->means[0];
  std::printf("step size %.3f, acceptance %.3f\n", result.draws->info().step_size,
              result.statistics.acceptance);
  std::printf("mean of the first spin: %.4f +- %.4f, exactly %.4f\n", spin.mean, spin.mcse, exact);
  return std::abs(spin.mean - exact) < 5 * spin.mcse ? 0 : 1;
}
