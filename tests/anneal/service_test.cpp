// anneal(): from a model to the best state, whole and in parts.
#include <gtest/gtest.h>

#include <thread>

#include "saltus/anneal.hpp"
#include "saltus/core/error.hpp"
#include "shared_parts.hpp"
#include "temper/cut16.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

AnnealRequest small_request(std::shared_ptr<const Target> target, const std::string& sampler) {
  AnnealRequest request(std::move(target));
  request.sampler = sampler;
  request.restarts = 60;
  request.steps = 40;
  request.threads = 1;
  return request;
}

TEST(Anneal, FindsTheBestStates) {
  for (const auto& [target, optimum] :
       {std::pair{glass10(), 17.52}, {cut16(), 14.0}, {ferro8(), 14.4}}) {
    const AnnealResult r = anneal(small_request(target, "auto"));
    ASSERT_TRUE(r.best && r.complete && r.time_to_solution);
    EXPECT_NEAR(r.best->logp, optimum, 1e-9);
    EXPECT_EQ(logp_of(*target, r.best->state.data()), r.best->logp);
    EXPECT_EQ(r.goal, r.best->logp);
    EXPECT_GT(r.reached, 0);
    EXPECT_EQ(r.betas.size(), 40u);
    EXPECT_EQ(r.quantiles.largest, r.best->pilot() ? r.quantiles.largest : r.best->logp);
    EXPECT_LE(r.quantiles.q25, r.quantiles.median);
  }
}

TEST(Anneal, TheStateOfGlass10) {
  const AnnealResult r = anneal(small_request(glass10(), "auto"));
  EXPECT_EQ(r.best->state, (std::vector<Symbol>{0, 0, 1, 1, 1, 1, 0, 1, 0, 1}));
}

TEST(Anneal, AGoalThatNoneReaches) {
  AnnealRequest request = small_request(cut16(), "auto");
  request.goal = 15;
  const AnnealResult r = anneal(request);
  EXPECT_EQ(r.reached, 0);
  EXPECT_FALSE(r.time_to_solution->restarts);
}

TEST(Anneal, StopsWhenTold) {
  const AnnealResult r = anneal(small_request(cut16(), "dmala"), [](const AnnealStatus& s) {
    return s.stage != AnnealStatus::Stage::restarts || s.done < 0.5;
  });
  EXPECT_FALSE(r.complete);
  EXPECT_EQ(r.steps_made, 20u);
  EXPECT_TRUE(r.best);
  EXPECT_FALSE(r.time_to_solution);
  const AnnealResult early = anneal(small_request(cut16(), "auto"), [](const AnnealStatus& s) {
    return s.stage != AnnealStatus::Stage::pilot;
  });
  EXPECT_TRUE(early.restarts.logp.empty());
  EXPECT_TRUE(early.best && early.best->pilot());
}

TEST(Anneal, RecommendsSweepsWhereTheyAreCheap) {
  EXPECT_EQ(recommended_search_sampler(*cut16()).name, "gibbs");
  EXPECT_EQ(recommended_search_sampler(*potts5()).name, "gibbs");
  EXPECT_THROW(anneal(AnnealRequest()), UsageError);
}

// Parts deal out restarts and pilots; the last has no pilot.
TEST(Anneal, InPartsTheSameBits) {
  const ChainRange restarts[] = {{0, 16}, {16, 32}, {48, 12}},
                   pilots[] = {{0, 16}, {16, 16}, {32, 0}};
  for (const char* sampler : {"auto", "dmala"}) {
    const AnnealResult whole = anneal(small_request(cut16(), sampler));
    SharedParts shared(3);
    std::vector<AnnealResult> parts(3);
    {
      std::vector<std::jthread> threads;
      for (std::size_t p = 0; p < 3; ++p) {
        threads.emplace_back([&, p] {
          SharedParts::Part part(shared, p);
          AnnealRequest request = small_request(cut16(), sampler);
          request.first_restart = restarts[p].first_chain;
          request.restarts = restarts[p].chains;
          request.pilots = pilots[p];
          request.reduction = &part;
          parts[p] = anneal(request);
        });
      }
    }
    for (std::size_t p = 0; p < 3; ++p) {
      EXPECT_EQ(parts[p].betas, whole.betas);
      for (std::size_t r = 0; r < parts[p].restarts.logp.size(); ++r) {
        const std::size_t at = restarts[p].first_chain + r;
        EXPECT_EQ(parts[p].restarts.logp[r], whole.restarts.logp[at]);
        EXPECT_EQ(parts[p].restarts.step[r], whole.restarts.step[at]);
      }
    }
  }
}

TEST(Anneal, InATeamTheSameBits) {
  for (const char* sampler : {"auto", "dmala"}) {
    const AnnealResult whole = anneal(small_request(cut16(), sampler));
    for (const int members : {2, 3, 40}) {
      SharedParts::run(members, [&](Team& team) {
        AnnealRequest request = small_request(cut16(), sampler);
        request.team = &team;
        const AnnealResult result = anneal(request);
        if (!team.leads()) return;
        EXPECT_EQ(result.betas, whole.betas);
        EXPECT_EQ(result.restarts.logp, whole.restarts.logp);
        EXPECT_EQ(result.restarts.step, whole.restarts.step);
        EXPECT_EQ(result.pilot.logp, whole.pilot.logp);
        EXPECT_EQ(result.best->state, whole.best->state);
        EXPECT_EQ(result.best->restart, whole.best->restart);
        EXPECT_EQ(result.reached, whole.reached);
        EXPECT_EQ(result.success.mean, whole.success.mean);
      });
    }
  }
}

TEST(Anneal, APopulationInATeam) {
  AnnealRequest request = small_request(glass10(), "dmala");
  request.population = true;
  const AnnealResult whole = anneal(request);
  for (const int members : {2, 3, 40}) {
    SharedParts::run(members, [&](Team& team) {
      AnnealRequest mine = request;
      mine.team = &team;
      const AnnealResult result = anneal(mine);
      if (!team.leads()) return;
      EXPECT_EQ(result.restarts.logp, whole.restarts.logp);
      EXPECT_EQ(result.restarts.last_logp, whole.restarts.last_logp);
      EXPECT_EQ(result.population->log_z, whole.population->log_z);
      EXPECT_EQ(result.population->families, whole.population->families);
      EXPECT_EQ(result.population->rho_t, whole.population->rho_t);
    });
  }
}

// The leader alone says when.
TEST(Anneal, ATeamStopsWhenTheLeaderIsTold) {
  for (const char* sampler : {"auto", "dmala"}) {
    for (const double time_limit : {0.0, 1e-9}) {
      SharedParts::run(3, [&](Team& team) {
        AnnealRequest request = small_request(glass10(), sampler);
        request.steps = 200;
        request.team = &team;
        request.time_limit = team.leads() ? time_limit : 0;
        const AnnealResult result = anneal(request, [&](const AnnealStatus& s) {
          return s.stage != AnnealStatus::Stage::restarts || time_limit > 0;
        });
        if (!team.leads()) return;
        EXPECT_FALSE(result.complete);
        EXPECT_GT(result.steps_made, 0u);
        EXPECT_LT(result.steps_made, 200u);
        EXPECT_EQ(result.restarts.logp.size(), 60u);
      });
    }
  }
}

}  // namespace
}  // namespace saltus
