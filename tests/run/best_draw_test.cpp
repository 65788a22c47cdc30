// The best draw of a run is that of all its draws, however the run is made.
#include "saltus/run/best_draw.hpp"

#include <gtest/gtest.h>

#include "saltus/diagnose/observables.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

SampleRequest request(const std::string& sampler, Keep keep) {
  SampleRequest r(std::make_shared<IsingLattice>(4, 5, true, 0.15, 0.02));
  r.sampler = sampler;
  if (sampler == "gibbs") r.settings = {{"updates", "sweep"}};
  r.plan.draws = 300;
  r.plan.warmup = 50;
  r.plan.chains = 5;
  r.plan.tile = 2;
  r.keep = keep;
  r.exact = r.probe = false;
  return r;
}

void expect_same(const BestDraw& a, const BestDraw& b) {
  EXPECT_NEAR(a.logp, b.logp, 1e-9);
  EXPECT_EQ(a.chain, b.chain);
  EXPECT_EQ(a.draw, b.draw);
  EXPECT_EQ(a.state, b.state);
}

TEST(BestDraw, IsTheBestOfAllDraws) {
  for (const char* sampler : {"dmala", "dula", "gibbs"}) {
    const SampleResult kept = sample(request(sampler, Keep::memory));
    ASSERT_TRUE(kept.best);
    expect_same(*kept.best, best_state(*kept.draws).value());
    // log p belongs to the state.
    EXPECT_NEAR(logp_of(*kept.target, kept.best->state.data()), kept.best->logp, 1e-4) << sampler;
    const SampleResult moments = sample(request(sampler, Keep::moments));
    ASSERT_TRUE(moments.best) << sampler;
    expect_same(*moments.best, *kept.best);
    SampleRequest some = request(sampler, Keep::memory);
    some.coordinates = 3;
    expect_same(sample(some).best.value(), *kept.best);
  }
}

TEST(BestDraw, IsSavedAndMerged) {
  BestSoFar all(2, 2), part(2, 1);
  EXPECT_FALSE(all.best());
  const RowBuffer<Symbol> x(2, 2);
  double logp[2] = {1, 2};
  Tile tile;
  tile.x = x.view();
  tile.logp = logp;
  const std::vector<StepInfo> info(2);
  x.view()[1][0] = 1;
  all.record(tile, info, 0);
  x.view()[1][0] = 0;
  logp[1] = 2;  // as good as before: the first one stays
  all.record(tile, info, 1);
  const auto check = [](const BestSoFar& b) {
    ASSERT_TRUE(b.best());
    EXPECT_EQ(b.best()->logp, 2);
    EXPECT_EQ(b.best()->chain, 1);
    EXPECT_EQ(b.best()->draw, 0u);
    EXPECT_EQ(b.best()->state, (std::vector<Symbol>{1, 0}));
  };
  check(all);
  ByteWriter out;
  all.save(out);
  BestSoFar restored(2, 2);
  ByteReader in(out.bytes());
  restored.restore(in);
  check(restored);

  tile.x.rows = 1;
  logp[0] = 7;
  part.record(tile, std::span(info).first(1), 0);
  restored.merge(part);
  EXPECT_EQ(restored.best()->logp, 7);
  EXPECT_EQ(restored.best()->chain, 2);
}

}  // namespace
}  // namespace saltus
