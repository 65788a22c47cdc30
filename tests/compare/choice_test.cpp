#include "saltus/compare/choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

RunPlan one_thread() {
  RunPlan plan;
  plan.threads = 1;
  return plan;
}

TEST(Choice, TempersWhereChainsDisagreeAndOnlyThere) {
  const auto modes = ferro8();
  const Choice choice = choose_sampler(*modes, one_thread(), {.seconds = 0.4});
  EXPECT_TRUE(choice.winner.tempered) << choice.reason();
  EXPECT_NE(choice.reason().find("tempered, because plain chains"), std::string::npos);
  EXPECT_GT(choice.results.back().replicas, 2);
  EXPECT_FALSE(
      choose_sampler(*modes, one_thread(), {.seconds = 0.4, .tempering = false}).winner.tempered);
  const IsingLattice one_mode(4, 4, true, 0.1, 0.2);
  const Choice plain = choose_sampler(one_mode, one_thread(), {.seconds = 0.4});
  EXPECT_FALSE(plain.winner.tempered) << plain.reason();
  EXPECT_EQ(plain.modes, "");
}

TEST(Choice, TakesAnExactSamplerThatServes) {
  const IsingLattice target(6, 6, true, 0.1, 0.2);
  const Choice choice = choose_sampler(target, one_thread(), {.seconds = 0.1});
  const auto names = samplers_for(target);
  EXPECT_TRUE(std::count(names.begin(), names.end(), choice.winner.sampler));
  EXPECT_TRUE(make_sampler(choice.winner.sampler, target, choice.winner.settings)->exact());
  EXPECT_EQ(choice.results.back().contender.label(), choice.winner.label());
  EXPECT_FALSE(choice.reason().empty());
  for (const Standing& s : choice.results) {
    EXPECT_TRUE(make_sampler(s.contender.sampler, target, s.contender.settings)->exact());
  }
}

TEST(Choice, GivesSettingsToThoseThatHaveThem) {
  const Poisson target({2.0, 3.0});
  const Choice choice =
      choose_sampler(target, one_thread(), {.seconds = 0.05, .settings = {{"flips", "1"}}});
  std::size_t given = 0;
  for (const Standing& s : choice.results) {
    const bool has = s.contender.sampler == "gwg" || s.contender.sampler == "pas";
    EXPECT_EQ(s.contender.settings, has ? Settings({{"flips", "1"}}) : Settings{});
    given += has;
  }
  EXPECT_EQ(given, 2u);
  EXPECT_GT(choice.results.size(), 2u);
}

TEST(Choice, RefusesSettingsInWords) {
  const IsingLattice target(4, 4, true, 0.1, 0.2);
  const auto refusal = [&](const Settings& settings) -> std::string {
    try {
      choose_sampler(target, one_thread(), {.seconds = 0.01, .settings = settings});
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal({{"flip", "1"}}).find("no"), std::string::npos);
  EXPECT_NE(refusal({{"flip", "1"}}).find("parameter 'flip'"), std::string::npos);
  EXPECT_NE(refusal({{"flip", "1"}}).find("Did you mean flips?"), std::string::npos);
  EXPECT_NE(refusal({{"flips", "many"}}).find("flips=many"), std::string::npos);
}

TEST(Choice, SaysWhenItGuesses) {
  Choice choice;
  choice.winner = {"gibbs", {}};
  choice.seconds = 0.4;
  choice.results = {{{"dmala", {}}, NAN, NAN, false, 0}, {{"gibbs", {}}, 12, 1.3, false, 0}};
  EXPECT_NE(choice.reason().find("a guess"), std::string::npos);
  choice.results[1].mixed = true;
  EXPECT_NE(choice.reason().find("more effective draws than dmala, which has none"),
            std::string::npos);
  choice.results[0].ess_per_second = 3;
  EXPECT_NE(choice.reason().find("4 times the effective sample size per second of dmala"),
            std::string::npos);
}

}  // namespace
}  // namespace saltus
