// Helpers for tests of locally informed samplers: a target without its abilities, and steps with
// the states and values that they lead to.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {

// Another target that only evaluates states.
class Plain final : public Target {
 public:
  explicit Plain(const Target& target) : target_(target) {}
  std::string name() const override { return "plain"; }
  const Domain& domain() const override { return target_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    target_.evaluate(at, x, logp, score);
  }
  int preferred_tile() const override { return target_.preferred_tile(); }

 private:
  const Target& target_;
};

// What some steps led to, and how far the values that went along are from fresh ones.
struct Walked final : StepObserver {
  Walked(const Target& target, const Sampler& sampler, int chains, std::uint64_t steps,
         std::uint64_t seed, std::uint64_t check_every = 0)
      : target_(target), check_every_(check_every) {
    const Sampler::Needs needs = sampler.needs(target);
    score_kept_ = needs.score;
    Ensemble ensemble(target, chains, 0, 1, seed);
    ensemble.start_random();
    ensemble.evaluate();
    ensemble.advance(sampler, steps, *this);
    evaluations = ensemble.evaluations();
    for (int c = 0; c < chains; ++c) {
      states.insert(states.end(), ensemble.state(c), ensemble.state(c) + target.domain().dim());
    }
    const double n = static_cast<double>(steps) * chains;
    acceptance /= n, proposed /= n;
  }

  bool wants_logp(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (const StepInfo& i : info) {
      acceptance += i.acceptance;
      proposed += i.proposed;
      accepted += i.accepted;
      nonfinite += i.nonfinite;
    }
    if (check_every_ && (step + 1) % check_every_ == 0) compare(tile);
  }

  double acceptance = 0, proposed = 0;
  std::uint64_t accepted = 0, nonfinite = 0;
  double logp_error = 0, score_error = 0;
  Evaluations evaluations;
  std::vector<Symbol> states;

 private:
  void compare(const Tile& tile) {
    Scratch scratch;
    const RowBuffer<float> score(tile.rows(), target_.domain().score_size());
    std::vector<double> logp(static_cast<std::size_t>(tile.rows()));
    target_.evaluate({0, 0, scratch}, tile.x, logp.data(), score.view());
    for (int r = 0; r < tile.rows(); ++r) {
      logp_error = std::max(logp_error, std::abs(tile.logp[r] - logp[static_cast<std::size_t>(r)]));
      for (int i = 0; score_kept_ && i < score.view().cols; ++i) {
        score_error = std::max(
            score_error, static_cast<double>(std::abs(tile.score[r][i] - score.view()[r][i])));
      }
    }
  }

  const Target& target_;
  std::uint64_t check_every_;
  bool score_kept_ = false;
};

// Spins on a graph in which every one meets about `degree` others, chosen without a pattern.
inline std::unique_ptr<Quadratic> sparse_spins(int n, int degree, double strength) {
  std::vector<Coupling> couplings;
  std::vector<double> field;
  const Stream random(5, 0, 0, Purpose::check);
  const auto below = [&](std::uint32_t k, int limit) {
    return static_cast<int>(random.uniform(k) * limit);
  };
  for (int i = 0; i < n; ++i) {
    for (int e = 0; e < degree / 2; ++e) {
      const auto k = static_cast<std::uint32_t>(3 * (i * degree + e));
      const int j = (i + 1 + below(k, n - 1)) % n;
      couplings.push_back({i, j, strength * (random.uniform(k + 1) - 0.4)});
    }
    field.push_back(random.uniform(static_cast<std::uint32_t>(3 * i * degree + 2)) - 0.5);
  }
  return make_ising(n, couplings, field);
}

}  // namespace saltus
