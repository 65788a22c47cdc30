// Draws from the paper's 5 x 5 Ising model with DMALA and compares the means with the exact ones.
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/exact.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/ising_lattice.hpp"

using namespace saltus;

int main() {
  const IsingLattice model(5, 5, /*periodic=*/true, /*a=*/0.1, /*b=*/0.2);

  RunPlan plan;  // 4 chains, 1000 warm-up steps in which the step size is tuned, then:
  plan.draws = 50000;
  plan.seed = 2022;

  Moments moments(model.domain(), plan.chains, plan.draws, /*detail=*/true);
  Run run(model, std::make_unique<Dlp>(model.domain(), DlpOptions{}), plan);
  run.add(moments);
  run.start();
  run.go();

  const double exact = exact_answer(model).means[0];
  const double mean = moments.mean()[0];
  const double error = std::sqrt(moments.variance()[0] / moments.ess()[0]);
  std::printf("step size %.3f, acceptance %.3f\n", *run.sampler().step_size(),
              run.statistics().acceptance);
  std::printf("mean of the first spin: %.4f +- %.4f, exactly %.4f\n", mean, error, exact);
  return std::abs(mean - exact) < 5 * error ? 0 : 1;
}
