// One run in several parts: the same bits as in one.
#include <gtest/gtest.h>

#include <thread>

#include "saltus/core/error.hpp"
#include "saltus/run/batch_means.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"
#include "shared_parts.hpp"

namespace saltus {
namespace {

constexpr int kChains = 12, kDraws = 300;

struct Recorded {
  Moments moments;
  BatchMeans batches;
  DrawSpool spool;
  double step_size = 0;

  Recorded(const Target& target, int chains)
      : moments(target.domain(), chains, kDraws, true),
        batches(target.domain(), chains, {0, 2}),
        spool(info_of(target), target.domain().dim(), chains, {}, {}) {}

  static DrawsInfo info_of(const Target& target) {
    DrawsInfo info;
    info.shape = target.shape();
    info.levels = target.domain().max_levels();
    return info;
  }
};

std::unique_ptr<Recorded> record(const Target& target, const std::string& sampler,
                                 const ChainRange& range, Reduction* reduction) {
  RunPlan plan;
  plan.chains = range.chains;
  plan.first_chain = range.first_chain;
  plan.reduction = reduction;
  plan.tile = 2;
  plan.threads = 1;
  plan.warmup = 200;
  plan.draws = kDraws;
  auto recorded = std::make_unique<Recorded>(target, range.chains);
  Run run(target, make_sampler(sampler, target, {}), plan);
  run.add(recorded->moments);
  run.add(recorded->batches);
  run.add(recorded->spool);
  EXPECT_TRUE(run.go());
  recorded->step_size = run.sampler().step_size().value_or(0);
  return recorded;
}

// The parts' recorders, merged.
std::unique_ptr<Recorded> in_parts(const Target& target, const std::string& sampler, int parts) {
  const std::vector<ChainRange> ranges = chain_ranges(target, kChains, 2, parts);
  EXPECT_EQ(ranges.size(), static_cast<std::size_t>(parts));
  SharedParts shared(parts);
  std::vector<std::unique_ptr<Recorded>> made(ranges.size());
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < ranges.size(); ++p) {
    threads.emplace_back([&, p] {
      SharedParts::Part part(shared, p);
      made[p] = record(target, sampler, ranges[p], &part);
    });
  }
  threads.clear();
  for (std::size_t p = 1; p < made.size(); ++p) {
    made[0]->moments.merge(made[p]->moments);
    made[0]->batches.merge(made[p]->batches);
    made[0]->spool.merge(made[p]->spool);
  }
  return std::move(made[0]);
}

std::vector<Symbol> states_of(const Draws& draws) {
  std::vector<Symbol> all;
  RowBuffer<Symbol> x(static_cast<int>(draws.draws()), draws.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    draws.read_states(chain, 0, x.view());
    for (int r = 0; r < x.view().rows; ++r) {
      all.insert(all.end(), x.view()[r], x.view()[r] + draws.dim());
    }
  }
  return all;
}

std::vector<double> logp_of(const Draws& draws) {
  std::vector<double> all, logp(draws.draws());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    draws.read_logp(chain, 0, logp);
    all.insert(all.end(), logp.begin(), logp.end());
  }
  return all;
}

void expect_same_in_parts(const Target& target, const std::string& sampler) {
  SCOPED_TRACE(target.name() + " " + sampler);
  const auto whole = in_parts(target, sampler, 1);
  EXPECT_EQ(whole->spool.chains(), kChains);
  for (const int parts : {2, 3}) {
    const auto joined = in_parts(target, sampler, parts);
    EXPECT_EQ(joined->step_size, whole->step_size);
    EXPECT_EQ(joined->spool.draws(), whole->spool.draws());
    EXPECT_EQ(states_of(joined->spool), states_of(whole->spool));
    EXPECT_EQ(logp_of(joined->spool), logp_of(whole->spool));
    EXPECT_EQ(joined->moments.mean(), whole->moments.mean());
    EXPECT_EQ(joined->moments.ess(), whole->moments.ess());
    EXPECT_EQ(joined->batches.estimate().ess, whole->batches.estimate().ess);
  }
}

TEST(Parts, GiveTheBitsOfOneRun) {
  const IsingLattice lattice(4, 4, true, 0.2, 0.1);
  const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  for (const char* sampler : {"dmala", "dula", "gwg", "gibbs"}) {
    expect_same_in_parts(lattice, sampler);
    expect_same_in_parts(rbm, sampler);
  }
}

TEST(Parts, BeginWithATile) {
  const IsingLattice lattice(4, 4, true, 0.2, 0.1);
  const std::vector<ChainRange> ranges = chain_ranges(lattice, 11, 4, 2);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].first_chain, 0u);
  EXPECT_EQ(ranges[0].chains, 4);
  EXPECT_EQ(ranges[1].first_chain, 4u);
  EXPECT_EQ(ranges[1].chains, 7);
  EXPECT_EQ(chain_ranges(lattice, 3, 4, 5).size(), 1u);
}

TEST(Parts, OfDifferentRunsAreNotMerged) {
  const IsingLattice lattice(4, 4, true, 0.2, 0.1);
  Moments a(lattice.domain(), 2, 10, true), other_draws(lattice.domain(), 2, 20, true);
  BatchMeans b(lattice.domain(), 2, {0});
  EXPECT_THROW(a.merge(other_draws), UsageError);
  EXPECT_THROW(a.merge(b), UsageError);
}

}  // namespace
}  // namespace saltus
