// Learning that several members of a team share gives the parameters of one process.
#include <gtest/gtest.h>

#include <filesystem>

#include "../learn/small_models.hpp"
#include "saltus/learn.hpp"
#include "shared_parts.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// More units than make a task, more rows than make a tile.
constexpr int kUnits = 70, kRows = 150;

LearnRequest request_for(const std::string& kind, Rows<const Symbol> data, int chains) {
  LearnRequest r = learn_request(kind);
  r.data = data;
  r.hidden = 67;
  r.fields = true;
  r.plan.batch = 101;
  r.plan.chains = chains;
  r.plan.steps = 2;
  r.plan.l1 = 0.01;
  r.plan.threads = 1;
  r.epochs = 0;
  r.iterations = 5;
  return r;
}

std::vector<double> numbers_of(const LearnResult& r) {
  const LearningInfo& recent = r.totals.recent;
  std::vector<double> all = {recent.gap, recent.loss, recent.acceptance, recent.changed};
  for (const float p : r.model->parameters()) all.push_back(double{p});
  return all;
}

// What the leader has learned, once `stop` iterations are done.
std::vector<double> in_team(const LearnRequest& request, int members, std::uint64_t stop = 1000) {
  std::vector<double> found;
  SharedParts::run(members, [&](Team& team) {
    LearnRequest mine = request;
    mine.plan.team = &team;
    const LearnResult result =
        learn(mine, [&](const LearnStatus& s) { return s.totals.iterations < stop; });
    if (team.leads()) found = numbers_of(result);
  });
  return found;
}

TEST(TeamLearning, LearnsWhatOneProcessLearns) {
  const RowBuffer<Symbol> data = coins(kRows, kUnits, 3);
  for (const std::string kind : {"rbm", "ising"}) {
    for (const int chains : {0, 90}) {
      SCOPED_TRACE(kind + " " + std::to_string(chains));
      const LearnRequest request = request_for(kind, data.view(), chains);
      const std::vector<double> whole = numbers_of(learn(request));
      for (const int members : {2, 3, 7}) EXPECT_EQ(in_team(request, members), whole) << members;
    }
  }
}

TEST(TeamLearning, ResumesWithAnotherNumberOfMembers) {
  const RowBuffer<Symbol> data = coins(kRows, kUnits, 3);
  const fs::path file = fs::temp_directory_path() / "saltus-team-learning.checkpoint";
  for (const std::string kind : {"rbm", "ising"}) {
    LearnRequest request = request_for(kind, data.view(), 90);
    const std::vector<double> whole = numbers_of(learn(request));
    request.checkpoint = file.string();
    fs::remove(file);
    in_team(request, 2, 3);
    LearnRequest rest = resumed_learning(file.string());
    rest.data = data.view();
    EXPECT_NE(in_team(rest, 3, 4), whole) << kind;  // stopped again
    EXPECT_EQ(in_team(rest, 7), whole) << kind;
  }
  fs::remove(file);
}

}  // namespace
}  // namespace saltus
