// A run that is saved, thrown away and restored again and again, against one that is not.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {

// Keeps all draws, in memory, chain by chain.
class KeepDraws final : public Recorder {
 public:
  explicit KeepDraws(int chains)
      : states(static_cast<std::size_t>(chains)), logp(static_cast<std::size_t>(chains)) {}
  void record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const std::size_t chain = tile.first_slot + static_cast<std::uint32_t>(r);
      states[chain].insert(states[chain].end(), tile.x[r], tile.x[r] + tile.x.cols);
      logp[chain].push_back(tile.logp[r]);
    }
  }
  bool wants_logp() const override { return true; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}

  std::vector<std::vector<Symbol>> states;
  std::vector<std::vector<double>> logp;
};

inline KeepDraws draws_of_one_run(const Target& target, const std::string& sampler,
                                  const Settings& settings, const RunPlan& plan) {
  KeepDraws draws(plan.chains);
  saltus::Run run(target, make_sampler(sampler, target, settings), plan);
  run.add(draws);
  run.start();
  EXPECT_TRUE(run.go());
  return draws;
}

inline KeepDraws draws_of_interrupted_runs(const Target& target, const std::string& sampler,
                                           const Settings& settings, RunPlan plan) {
  KeepDraws draws(plan.chains);
  std::vector<std::byte> saved;
  bool done = false;
  for (int part = 0; !done; ++part) {
    plan.threads = 1 + part % 2;
    saltus::Run run(target, make_sampler(sampler, target, settings), plan);
    run.add(draws);
    if (part == 0) {
      run.start();
    } else {
      ByteReader in(saved);
      run.restore(in);
      EXPECT_TRUE(in.empty());
    }
    int rounds = 0;
    done = run.go([&](const RunStatus&) { return ++rounds < 1 + 3 * (part % 4); });
    ByteWriter out;
    run.save(out);
    saved.assign(out.bytes().begin(), out.bytes().end());
  }
  return draws;
}

}  // namespace saltus
