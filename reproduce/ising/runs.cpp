#include "reproduce/ising/runs.hpp"

#include <fmt/format.h>

#include <array>

#include "reproduce/chains.hpp"
#include "saltus/diagnose/chains.hpp"

namespace saltus::reproduce::ising {
namespace {

constexpr int kSites = 25, kChains = 2;

class Means {
 public:
  Means(double exact, std::uint64_t steps) : exact_(exact) { first_chain_.reserve(steps * kSites); }
  void operator()(int chain, std::uint64_t step, const Symbol* x) {
    const auto c = static_cast<std::size_t>(chain);
    for (std::size_t i = 0; i < kSites; ++i) sum_[c][i] += x[i];
    if (chain == 0) return first_chain_.insert(first_chain_.end(), x, x + kSites), void();
    if ((step + 1) % kEvery == 0) log_rmse.push_back(error(static_cast<double>(step + 1)));
  }
  std::vector<double> ess() const {
    const std::size_t steps = first_chain_.size() / kSites, dropped = steps / 10;
    std::vector<double> result, series(steps - dropped);
    for (std::size_t i = 0; i < kSites; ++i) {
      for (std::size_t t = dropped; t < steps; ++t) {
        series[t - dropped] = first_chain_[t * kSites + i];
      }
      result.push_back(ess_paper(series));
    }
    return result;
  }
  std::vector<double> log_rmse;

 private:
  double error(double n) const {
    double sum = 0;
    for (const auto& chain : sum_) {
      for (const std::uint32_t ups : chain) {
        const double difference = 2 * ups / n - 1 - exact_;
        sum += difference * difference;
      }
    }
    return std::log(sum / (kChains * kSites)) / 2;
  }
  double exact_;
  std::array<std::array<std::uint32_t, kSites>, kChains> sum_{};
  std::vector<Symbol> first_chain_;
};

}  // namespace

Entrant dmala(double alpha) {
  return {{"DMALA", "dmala", alpha}};
}
Entrant dula(double alpha) {
  return {{"DULA", "dula", alpha}, false};
}
Entrant gwg(int flips) {
  return {{fmt::format("GWG-{}", flips), "gwg", NAN, {{"flips", fmt::format("{}", flips)}}}};
}
Entrant gibbs() {
  return {{"Gibbs-1", "gibbs", NAN, {{"scan", "permutation"}, {"updates", "1"}}}};
}

Outcome run_pair(const IsingLattice& target, double exact, const Entrant& entrant,
                 std::uint64_t steps, std::uint64_t seed) {
  const std::vector<double> up(kSites, 1 / (1 + std::exp(-2 * kB)));
  const RowBuffer<Symbol> start = independent_bits(up, kChains, 0, seed);
  const auto sampler = entrant.make(target);
  Means means(exact, steps);
  const double before = thread_seconds();
  run_chains(target, *sampler, start.view(), steps, seed,
             [&](int chain, std::uint64_t step, const Symbol* x, const StepInfo&) {
               means(chain, step, x);
             });
  Outcome outcome;
  outcome.seconds = thread_seconds() - before;
  if (entrant.weighed) outcome.ess = means.ess();
  outcome.log_rmse = std::move(means.log_rmse);
  return outcome;
}

}  // namespace saltus::reproduce::ising

namespace saltus::reproduce {

Results run_ising(Context& context) {
  Results results;
  ising::add_boldness(context, results);
  ising::add_race(context, results);
  ising::add_floor(context, results);
  ising::add_connectivity(context, results);
  return results;
}

}  // namespace saltus::reproduce
