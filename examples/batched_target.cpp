// A target that evaluates many states at a time, drawn from by one call: draws in memory, and the
// same draws in an array of ours.
//
// Here: a small restricted Boltzmann machine, as an array library would compute it.
#include <cmath>
#include <cstdio>

#include "saltus/diagnose/gradient_check.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/function.hpp"

using namespace saltus;

constexpr int kVisible = 8, kHidden = 3;

double weight(int i, int h) {
  return 0.8 * std::sin(1.0 + 3 * i + 5 * h);
}

// log p(x) = sum_h log(1 + exp(sum_i w_ih x_i)) - 0.3 sum_i x_i, for all rows of the call.
void log_p(const BatchCall<double>& call) {
  for (int r = 0; r < call.rows; ++r) {
    const double* x = call.values[r];
    double& logp = call.logp[static_cast<std::size_t>(r)];
    logp = 0;
    for (int i = 0; i < kVisible; ++i) {
      logp -= 0.3 * x[i];
      if (call.score) call.score[r][i] = -0.3;
    }
    for (int h = 0; h < kHidden; ++h) {
      double z = 0;
      for (int i = 0; i < kVisible; ++i) z += weight(i, h) * x[i];
      logp += std::log1p(std::exp(z));
      if (!call.score) continue;
      for (int i = 0; i < kVisible; ++i) call.score[r][i] += weight(i, h) / (1 + std::exp(-z));
    }
  }
}

int main() {
  const auto target = std::make_shared<BatchFunction>(Domain::binary(kVisible), log_p,
                                                      BatchOptions{.name = "batched"});
  std::printf("the gradient explains log p: correlation %.4f\n", check_score(*target).correlation);

  // 1. Draws in memory, with their summary and the exact answer.
  SampleRequest request(target);
  request.plan.seed = 2022;
  const SampleResult result = sample(request);
  double worst = 0;
  for (std::size_t i = 0; i < kVisible; ++i) {
    const CoordinateSummary& s = result.summaries[i];
    worst = std::fmax(worst, std::abs(s.mean - result.exact->means[i]) / s.mcse);
  }
  std::printf("%s, acceptance %.3f; largest deviation of a mean: %.1f standard errors\n",
              result.sampler.c_str(), result.statistics.acceptance, worst);

  // 2. The same draws in our array, one plane for each coordinate.
  const auto chains = static_cast<std::size_t>(request.plan.chains);
  const auto draws = static_cast<std::size_t>(request.plan.draws);
  std::vector<Symbol> planes(kVisible * chains * draws);
  request.keep = Keep::arrays;
  request.arrays = {planes, {draws, 1, chains * draws}, {}, {}};
  sample(request);
  double sum = 0;
  for (std::size_t k = 0; k < chains * draws; ++k) sum += planes[k];
  const double mean = sum / static_cast<double>(chains * draws);
  std::printf("mean of the first coordinate: %.6f in memory, %.6f in the array\n", result.mean[0],
              mean);
  return worst < 5 && std::abs(mean - result.mean[0]) < 1e-12 ? 0 : 1;
}
