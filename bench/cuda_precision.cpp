// What the precision of a network changes, on a GPU and on a model that was learned:
//
//   saltus_bench_precision MODEL.json [STEPS]
//
// Chains settle in the model's own precision. From there DMALA runs in each of them, with the same
// random numbers; and log p and score of the same states are compared with single precision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "saltus/io/model_file.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {
namespace {

constexpr int kChains = 100;
const Settings kSettings = {{"step_size", "0.15"}};

struct Summary {
  double mean = 0, error = 0;  // of the mean
};

Summary summary(const std::vector<double>& values) {
  Summary s;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) s.mean += v / n;
  for (const double v : values) s.error += (v - s.mean) * (v - s.mean);
  s.error = std::sqrt(s.error / (n * (n - 1)));
  return s;
}

// Sums over the steps of every chain.
struct Sums final : StepObserver {
  std::vector<double> acceptance = std::vector<double>(kChains), logp = acceptance;
  bool wants_logp(std::uint64_t) const override { return true; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const auto chain = static_cast<std::size_t>(tile.first_slot) + static_cast<std::size_t>(r);
      acceptance[chain] += info[static_cast<std::size_t>(r)].acceptance;
      logp[chain] += tile.logp[r];
    }
  }
  void divide(double steps) {
    for (double& v : acceptance) v /= steps;
    for (double& v : logp) v /= steps;
  }
};

struct Values {
  std::vector<double> logp;
  RowBuffer<float> score;
};

Values values_of(const Target& target, Rows<const Symbol> x) {
  Values v{std::vector<double>(static_cast<std::size_t>(x.rows)),
           RowBuffer<float>(x.rows, target.domain().score_size())};
  Scratch scratch;
  target.evaluate({0, 0, scratch}, x, v.logp.data(), v.score.view());
  return v;
}

RowBuffer<Symbol> advance(const Target& target, Rows<const Symbol> start, std::uint64_t steps,
                          std::uint64_t seed, Sums& sums) {
  Ensemble ensemble(target, kChains, 0, 1, seed);
  start ? ensemble.start_from(start) : ensemble.start_random();
  ensemble.evaluate();
  ensemble.advance(*make_sampler("dmala", target, kSettings), steps, sums);
  sums.divide(static_cast<double>(steps));
  RowBuffer<Symbol> x(kChains, target.domain().dim());
  for (int c = 0; c < kChains; ++c) {
    std::copy_n(ensemble.state(c), x.view().cols, x.view()[c]);
  }
  return x;
}

// Adding a constant to log p changes nothing: what counts is how the difference varies from state
// to state. Half its variance is about the divergence of one distribution from the other.
void compare(const std::string& name, const Values& a, const Values& single) {
  std::vector<double> difference;
  double wrong = 0, all = 0;
  for (std::size_t r = 0; r < a.logp.size(); ++r) {
    difference.push_back(a.logp[r] - single.logp[r]);
    const float* s = a.score.view()[static_cast<int>(r)];
    const float* t = single.score.view()[static_cast<int>(r)];
    for (int i = 0; i < a.score.view().cols; ++i) {
      wrong += std::pow(double{s[i]} - double{t[i]}, 2), all += std::pow(double{t[i]}, 2);
    }
  }
  const Summary s = summary(difference);
  const auto [low, high] = std::minmax_element(difference.begin(), difference.end());
  fmt::print(
      "  {:8} log p differs by {:.2e} on average, standard deviation {:.2e}, {:.2e} to {:.2e}; "
      "score by {:.3f} %\n",
      name, s.mean, s.error * std::sqrt(static_cast<double>(difference.size())), *low, *high,
      100 * std::sqrt(wrong / all));
}

void table(const std::string& file, std::uint64_t steps) {
  const auto make = [&](std::optional<Precision> p) { return load_model(file, {Device::cuda, p}); };
  Sums settling;
  const RowBuffer<Symbol> start = advance(*make({}).target, {}, 10 * steps, 1, settling);
  fmt::print("{} chains, settled for {} steps; then {} of DMALA\n", kChains, 10 * steps, steps);
  const Values single = values_of(*make(Precision::single).target, start.view());
  for (const auto& [name, precision] :
       {std::pair("single", Precision::single), std::pair("tf32", Precision::tf32),
        std::pair("half", Precision::half)}) {
    const Model model = make(precision);
    Sums sums;
    advance(*model.target, start.view(), steps, 2, sums);
    const Summary a = summary(sums.acceptance), p = summary(sums.logp);
    fmt::print("  {:8} acceptance {:.5f} +- {:.5f}, mean log p {:.3f} +- {:.3f}\n", name, a.mean,
               a.error, p.mean, p.error);
    if (precision != Precision::single)
      compare(name, values_of(*model.target, start.view()), single);
  }
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: saltus_bench_precision MODEL.json [STEPS]\n");
    return 64;
  }
  try {
    saltus::table(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return 0;
}
