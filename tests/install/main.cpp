// A project that uses the installed library: exact means of a small model against DMALA's.
#include <cmath>
#include <cstdio>
#include <saltus/diagnose/exact.hpp>
#include <saltus/run/moments.hpp>
#include <saltus/run/run.hpp>
#include <saltus/sampler/dlp.hpp>
#include <saltus/target/ising_lattice.hpp>

int main() {
  const saltus::IsingLattice target(3, 3, true, 0.1, 0.2);
  saltus::RunPlan plan;
  plan.draws = 20000;
  saltus::Moments moments(target.domain(), plan.chains, plan.draws, true);
  saltus::Run run(target, std::make_unique<saltus::Dlp>(target.domain(), saltus::DlpOptions{}),
                  plan);
  run.add(moments);
  run.start();
  run.go();
  const double error = moments.mean()[0] - saltus::exact_answer(target).means[0];
  const double mcse = std::sqrt(moments.variance()[0] / moments.ess()[0]);
  std::printf("error %.4f, standard error %.4f\n", error, mcse);
  return std::abs(error) < 5 * mcse ? 0 : 1;
}
