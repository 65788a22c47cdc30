// A run that several members of a team share gives the bits of one process: draws, statistics,
// checkpoints.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "saltus/compare.hpp"
#include "saltus/logz.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/rbm.hpp"
#include "shared_parts.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Target> lattice() {
  return std::make_shared<IsingLattice>(4, 4, true, 0.2, 0.1);
}

std::shared_ptr<const Target> rbm() {
  return std::make_shared<Rbm>(RbmModel{{.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3}});
}

SampleRequest request_for(std::shared_ptr<const Target> target, const std::string& sampler) {
  SampleRequest r(std::move(target));
  r.sampler = sampler;
  r.plan.chains = 7;
  r.plan.tile = 1;
  r.plan.threads = 1;
  r.plan.warmup = 150;
  r.plan.draws = 250;
  r.plan.thin = 2;
  r.exact = false;
  return r;
}

// What a result holds, as numbers that can be compared.
std::vector<double> numbers_of(const SampleResult& r) {
  std::vector<double> all = r.mean;
  const RunStatistics& s = r.statistics;
  for (const double v :
       {s.acceptance, s.accepted, s.changed, s.moved, s.gradient_evaluations, s.logp_evaluations,
        s.local_differences, static_cast<double>(s.still_chains)}) {
    all.push_back(v);
  }
  for (const CoordinateSummary& c : r.summaries) {
    all.insert(all.end(), {c.mean, c.sd, c.ess_bulk, c.rhat});
  }
  if (r.draws) {
    const Draws& draws = *r.draws;
    const RowBuffer<Symbol> x(static_cast<int>(draws.draws()), draws.dim());
    std::vector<double> logp(draws.draws());
    std::vector<float> acceptance(draws.draws());
    for (int chain = 0; chain < draws.chains(); ++chain) {
      draws.read_states(chain, 0, x.view());
      for (int row = 0; row < x.view().rows; ++row) {
        all.insert(all.end(), x.view()[row], x.view()[row] + draws.dim());
      }
      draws.read_logp(chain, 0, logp);
      all.insert(all.end(), logp.begin(), logp.end());
      draws.read_acceptance(chain, 0, acceptance);
      all.insert(all.end(), acceptance.begin(), acceptance.end());
    }
  }
  if (r.tempering) {
    const TemperingReport& t = *r.tempering;
    all.insert(all.end(), t.betas.begin(), t.betas.end());
    all.insert(all.end(), t.rejection.begin(), t.rejection.end());
    all.insert(all.end(), {t.log_z, t.log_z_error, t.round_trip_rate, t.correlation.back()});
  }
  for (double& v : all) v = std::isnan(v) ? -12345 : v;  // a constant coordinate's R-hat
  return all;
}

std::vector<double> in_team(const SampleRequest& request, int members) {
  std::vector<double> found;
  SharedParts::run(members, [&](Team& team) {
    SampleRequest mine = request;
    mine.team = &team;
    SampleRun run(mine);
    run.start();
    run.go();
    if (team.leads()) found = numbers_of(run.result());
  });
  return found;
}

TEST(Team, GivesTheBitsOfOneProcess) {
  for (const std::string sampler : {"dmala", "dula", "gwg", "gibbs", "dmala+gwg"}) {
    for (const auto& target : {lattice(), rbm()}) {
      SCOPED_TRACE(sampler + " " + target->name());
      const SampleRequest request = request_for(target, sampler);
      const std::vector<double> whole = numbers_of(sample(request));
      for (const int members : {2, 3, 9}) EXPECT_EQ(in_team(request, members), whole);
    }
  }
}

TEST(Team, KeepsDrawsWhereTheyAreWanted) {
  SampleRequest request = request_for(lattice(), "dmala");
  for (const Keep keep : {Keep::disk, Keep::moments}) {
    request.keep = keep;
    request.coordinates = keep == Keep::disk ? 5 : 0;
    EXPECT_EQ(in_team(request, 3), numbers_of(sample(request)));
  }
}

TEST(Team, TempersTogether) {
  SampleRequest request = request_for(lattice(), "dmala");
  request.tempering.emplace();
  const std::vector<double> whole = numbers_of(sample(request));
  for (const int members : {2, 5}) EXPECT_EQ(in_team(request, members), whole);
}

// Interrupted with one number of members and continued with another.
TEST(Team, ResumesWithAnotherNumberOfMembers) {
  const fs::path file = fs::temp_directory_path() / "saltus-team-test.checkpoint";
  for (const bool tempered : {false, true}) {
    for (const std::string sampler : {"dmala", "gwg"}) {
      SampleRequest request = request_for(lattice(), sampler);
      if (tempered) request.tempering.emplace();
      const std::vector<double> whole = numbers_of(sample(request));
      request.checkpoint = file.string();
      request.plan.round_seconds = 1e-9;
      for (const std::uint64_t stop : {40u, 260u}) {  // in warm-up, and in the draws
        fs::remove(file);
        SharedParts::run(3, [&](Team& team) {
          SampleRequest mine = request;
          mine.team = &team;
          SampleRun run(mine);
          run.start();
          run.go([&](const RunStatus& s) { return s.step < stop; });
        });
        SampleRequest rest = resumed_sample(file.string(), request.target);
        rest.exact = false;
        rest.plan.threads = 1;
        ASSERT_EQ(in_team(rest, 2), whole) << sampler << " " << stop;
        EXPECT_EQ(numbers_of(sample(rest)), whole);  // complete: by one process
      }
    }
  }
  fs::remove(file);
}

// The state of a checkpoint, but for the seconds that the run has taken.
TEST(Team, WritesTheCheckpointOfOneProcess) {
  const fs::path file = fs::temp_directory_path() / "saltus-team-same.checkpoint";
  SampleRequest request = request_for(lattice(), "gwg");
  request.keep = Keep::moments;
  request.checkpoint = file.string();
  request.overwrite = true;
  std::vector<std::vector<std::byte>> states;
  for (const int members : {1, 2, 3}) {
    in_team(request, members);
    states.push_back(read_checkpoint(file).state);
    fs::remove(file);
  }
  for (const auto& state : states) {
    ASSERT_EQ(state.size(), states[0].size());
    int different = 0;
    for (std::size_t b = 0; b < state.size(); ++b) different += state[b] != states[0][b];
    EXPECT_LE(different, 2 * static_cast<int>(sizeof(double)));
  }
}

TEST(Team, AnnealsTogether) {
  LogzRequest request(rbm());
  request.plan.annealing.chains = 10;
  request.plan.annealing.tile = 1;
  request.plan.annealing.threads = 1;
  request.plan.annealing.betas = linear_betas(150);
  request.plan.warmup = 200;
  const auto numbers = [](const LogzResult& r) {
    std::vector<double> all = r.estimate->forward.log_weights;
    const auto& reverse = r.estimate->reverse->log_weights;
    all.insert(all.end(), reverse.begin(), reverse.end());
    all.insert(all.end(), {r.estimate->forward.acceptance, r.estimate->reverse->acceptance});
    return all;
  };
  const std::vector<double> whole = numbers(logz(request));
  for (const int members : {2, 3, 12}) {
    std::vector<double> found;
    SharedParts::run(members, [&](Team& team) {
      LogzRequest mine = request;
      mine.team = &team;
      const LogzResult result = logz(mine);
      if (team.leads()) found = numbers(result);
    });
    EXPECT_EQ(found, whole) << members;
  }
}

std::vector<double> numbers_of(const LogzResult& r) {
  std::vector<double> all;
  if (r.estimate) all = r.estimate->forward.log_weights;
  const TemperingReport& t = *r.tempering;
  all.insert(all.end(), t.betas.begin(), t.betas.end());
  all.insert(all.end(), {t.log_z, t.log_z_error, t.round_trip_rate, t.correlation.back()});
  return all;
}

std::vector<double> in_team(const LogzRequest& request, int members, double stop_after = 2) {
  std::vector<double> found;
  SharedParts::run(members, [&](Team& team) {
    LogzRequest mine = request;
    mine.team = &team;
    const LogzResult result = logz(mine, [&](const LogzStatus& s) {
      return s.stage != LogzStatus::Stage::tempering || s.done < stop_after;
    });
    if (team.leads() && result.complete) found = numbers_of(result);
  });
  return found;
}

// By tempering, alone and beside annealing; also stopped, and continued by others.
TEST(Team, EstimatesLogZByTempering) {
  const fs::path file = fs::temp_directory_path() / "saltus-team-logz.checkpoint";
  for (const bool both : {false, true}) {
    LogzRequest request(rbm());
    request.annealing = both;
    request.plan.annealing.chains = 10;
    request.plan.annealing.tile = 1;
    request.plan.annealing.threads = 1;
    request.plan.annealing.betas = linear_betas(50);
    request.plan.warmup = 100;
    request.tempering.emplace();
    request.tempering->run.chains = 6;
    request.tempering->run.tile = 1;
    request.tempering->run.threads = 1;
    request.tempering->run.warmup = 100;
    request.tempering->run.draws = 200;
    const std::vector<double> whole = numbers_of(logz(request));
    for (const int members : {2, 3, 8}) EXPECT_EQ(in_team(request, members), whole) << members;
    request.checkpoint = file.string();
    request.tempering->run.round_seconds = 1e-9;
    fs::remove(file);
    EXPECT_TRUE(in_team(request, 3, 0.5).empty());
    request.resume = file.string();
    EXPECT_EQ(in_team(request, 2), whole);
  }
  fs::remove(file);
}

TEST(Team, RacesSamplersApart) {
  CompareRequest request{.target = lattice()};
  for (const char* sampler : {"dmala", "gwg", "dula", "gibbs", "rwm"}) {
    request.contenders.push_back(parse_contender(sampler));
  }
  request.plan.seconds = request.plan.warmup_seconds = 0.02;
  request.plan.threads = 1;
  for (const int members : {2, 7}) {
    SharedParts::run(members, [&](Team& team) {
      CompareRequest mine = request;
      mine.team = &team;
      const CompareResult result = compare(mine);
      EXPECT_EQ(result.complete, team.leads());
      if (!team.leads()) return;
      ASSERT_GE(result.results.size(), request.contenders.size());
      for (std::size_t c = 0; c < request.contenders.size(); ++c) {
        const RaceResult& r = result.results[c];
        EXPECT_EQ(r.contender.sampler, request.contenders[c].sampler);
        EXPECT_EQ(r.exact, r.contender.sampler != "dula");
        EXPECT_EQ(r.coordinates.size(), 16u);
        EXPECT_EQ(r.estimate.mean.size(), 16u);
        EXPECT_GT(r.statistics.steps, 0u);
        const auto known = make_sampler(r.contender.sampler, *request.target, r.contender.settings);
        ASSERT_EQ(r.parameters.size(), known->parameters().size());
        for (std::size_t k = 0; k < r.parameters.size(); ++k) {
          EXPECT_EQ(r.parameters[k].name, known->parameters()[k].name);
          EXPECT_EQ(r.parameters[k].value.index(), known->parameters()[k].value.index());
        }
      }
    });
  }
}

TEST(Team, ReadersRefuseListsOfAnotherLength) {
  ByteWriter out;
  out.begin_units();
  for (int chain = 0; chain < 3; ++chain) {
    out.put(chain);
    out.end_unit();
  }
  out.end_units();
  EXPECT_THROW(ByteReader(out.bytes()).units(2), DataError);
  EXPECT_THROW(ByteReader(out.bytes(), 2, 3).units(2), DataError);
  ByteReader last(out.bytes(), 2, 3);
  EXPECT_EQ(last.units(1).get<int>(), 2);
  EXPECT_TRUE(last.empty());
  EXPECT_THROW(ByteReader(out.bytes().first(out.bytes().size() - 1)).units(3), DataError);
}

}  // namespace
}  // namespace saltus
