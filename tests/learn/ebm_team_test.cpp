// A deep energy that several members of a team learn is the one that one process learns.
#include <gtest/gtest.h>

#include "ebm_lesson.hpp"
#include "shared_parts.hpp"

namespace saltus {
namespace {

// Seven tiles of chains, in iterations and in validations, the last of them smaller.
EbmPlan plan_for(Team* team) {
  EbmPlan plan = Lesson::small_plan();
  plan.batch = 26, plan.iterations = 30, plan.validate_every = 10;
  plan.validation_betas = 150, plan.validation_chains = 27;
  plan.threads = 1, plan.team = team;
  return plan;
}

std::vector<double> numbers_of(const Lesson& lesson) {
  std::vector<double> all;
  for (const EbmInfo& i : lesson.learning->history()) {
    all.insert(all.end(), {i.data_logp, i.sample_logp, i.acceptance, i.changed, i.step_size});
  }
  for (const Validation& v : lesson.learning->validations()) {
    all.insert(all.end(), {v.mean_logp, v.log_z, v.standard_error, v.ess, v.acceptance});
  }
  for (const float p : lesson.network.parameters()) all.push_back(double{p});
  const RowBuffer<Symbol> samples = lesson.learning->samples(100);
  for (int r = 0; r < 100; ++r) {
    all.insert(all.end(), samples.view()[r], samples.view()[r] + kPixels);
  }
  return all;
}

std::vector<double> in_team(int members, const Settings& settings) {
  std::vector<double> found;
  SharedParts::run(members, [&](Team& team) {
    Lesson lesson(plan_for(&team), false, "dmala", settings);
    if (lesson.learning->idle()) return;
    lesson.go();
    if (team.leads()) found = numbers_of(lesson);
  });
  return found;
}

TEST(EbmTeam, LearnsWhatOneProcessLearns) {
  for (const Settings& settings : {Settings{{"step_size", "0.3"}}, Settings{}}) {  // and tuned
    Lesson whole(plan_for(nullptr), false, "dmala", settings);
    whole.go();
    for (const int members : {2, 3, 9}) EXPECT_EQ(in_team(members, settings), numbers_of(whole));
  }
}

// Stopped in the middle of a validation with one number of members, continued with another.
TEST(EbmTeam, ResumesWithAnotherNumberOfMembers) {
  Lesson whole(plan_for(nullptr));
  whole.go();
  std::vector<std::byte> state;
  SharedParts::run(3, [&](Team& team) {
    Lesson lesson(plan_for(&team));
    while (lesson.learning->iteration() < 10) lesson.learning->step();
    EXPECT_FALSE(lesson.learning->validate([](double) { return false; }));
    const std::vector<std::byte> saved = saved_together(
        lesson.learning->team(), [&](ByteWriter& out) { lesson.learning->save(out); });
    if (team.leads()) state = saved;
  });
  for (const int members : {1, 2}) {
    SharedParts::run(members, [&](Team& team) {
      Lesson lesson(plan_for(&team));
      ByteReader in(state);
      lesson.learning->restore(in);
      lesson.go();
      EXPECT_EQ(numbers_of(lesson), numbers_of(whole)) << members << " " << team.rank();
    });
  }
}

}  // namespace
}  // namespace saltus
