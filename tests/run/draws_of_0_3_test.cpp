// Draws of plain sampling with given parameters are those of version 0.3, bit by bit: the states
// are kept in draws_of_0_3.txt, one line for each model, sampler and settings.
#include <gtest/gtest.h>

#include <fstream>

#include "larger_targets.hpp"
#include "resume.hpp"
#include "saltus/target/bernoulli.hpp"

namespace saltus {
namespace {

std::vector<LargerTarget> models() {
  using Made = std::unique_ptr<Target>;
  return {
      {"lattice", [] { return Made(new IsingLattice(4, 4, true, 0.1, 0.1)); }},
      {"graph", [] { return Made(make_ising(14, ring(14, 0.2, 2), some_numbers(14, 0.3, 1))); }},
      {"dense",
       [] {
         return Made(make_ising(14, ring(14, 0.05, 6), some_numbers(14, 0.3, 2),
                                Quadratic::Storage::dense));
       }},
      {"ordered",
       [] {
         auto couplings = ring(8, 0.1);
         for (int i = 0; i < 8; ++i) couplings.push_back({i, i, -0.2});
         return Made(
             new Quadratic("quadratic", Domain::ordered(8, 5), couplings, some_numbers(8, 0.5, 3)));
       }},
      {"potts",
       [] {
         std::vector<PottsEdge> edges;
         for (int i = 0; i < 9; ++i) {
           edges.push_back({i, (i + 1) % 9, {.3, 0, -.1, 0, .4, 0, .1, 0, .2}});
         }
         return Made(new Potts(Domain::categorical(9, 3), some_numbers(27, 0.5, 4), edges));
       }},
      {"poisson", [] { return Made(new Poisson(std::vector<double>(6, 4.0))); }},
      {"rbm",
       [] {
         return Made(new Rbm(some_numbers(12 * 6, 0.8, 5), some_numbers(12, 0.5, 6),
                             some_numbers(6, 0.5, 7)));
       }},
      {"bernoulli", [] { return Made(new Bernoulli(some_numbers(12, 1.5, 8))); }},
  };
}

std::vector<Settings> settings_of(const std::string& sampler, const Target& target) {
  std::vector<Settings> list{{}};
  if (sampler == "dmala" || sampler == "dula") list = {{{"step_size", "0.4"}}};
  if (sampler == "dlmc") list = {{{"step_size", "0.3"}}};
  if (sampler == "rmala") list = {{{"step_size", "0.02"}}};
  if (sampler == "pas") list = {{{"flips", "2"}}};
  if (sampler == "gwg") list = {{{"flips", "1"}}, {{"flips", "3"}}};
  if (sampler == "rwm") list = {{{"rate", "1.5"}}};
  if (sampler == "hamming_ball") list = {{{"block", "3"}}};
  if (sampler == "gibbs") {
    list = {{{"updates", "2"}}, {{"updates", "sweep"}}, {{"scan", "random"}, {"block", "2"}}};
    if (target.local_moves()) list.push_back({{"scan", "colours"}});
  }
  const bool far = target.domain().unbounded();
  for (const SamplerEntry& entry : sampler_entries()) {
    const auto& known = entry.parameters;
    if (entry.name != sampler || std::find(known.begin(), known.end(), "window") == known.end())
      continue;
    for (Settings& s : list) {
      if (far) s["window"] = "2";
    }
  }
  return list;
}

// With what version 0.3 took where nothing was said.
Settings as_in_0_3(const std::string& sampler, Settings settings) {
  if (sampler != "gibbs") return settings;
  settings.try_emplace("scan", "permutation");
  if (settings.at("scan") != "colours") settings.try_emplace("updates", "1");
  return settings;
}

// The draws of a chain one after the other, a character for each coordinate.
std::string text_of(const KeepDraws& draws, int dim) {
  std::string text;
  for (const std::vector<Symbol>& states : draws.states) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (i % static_cast<std::size_t>(dim) == 0) text += ' ';
      text += "0123456789abcdefghijklmnopqrstuvwxyz"[std::min<std::size_t>(states[i], 35)];
    }
  }
  return text;
}

RunPlan plan() {
  RunPlan plan;
  plan.chains = 3;
  plan.tile = 2;
  plan.warmup = 1;
  plan.draws = 3;
  plan.thin = 97;  // past the step at which values that follow the moves are computed afresh
  plan.seed = 0x123456789abcdef;
  plan.threads = 1;
  return plan;
}

TEST(Draws, AreThoseOfVersion03) {
  std::ifstream file(SALTUS_SOURCE_FOLDER "/tests/run/draws_of_0_3.txt");
  ASSERT_TRUE(file);
  std::string expected;
  int cases = 0;
  for (const LargerTarget& model : models()) {
    const auto target = model.make();
    for (const std::string& sampler : samplers_for(*target)) {
      for (const Settings& settings : settings_of(sampler, *target)) {
        std::string actual = model.name + " " + sampler;
        for (const auto& [key, value] : settings) actual += " " + key + "=" + value;
        const KeepDraws draws =
            draws_of_one_run(*target, sampler, as_in_0_3(sampler, settings), plan());
        actual += ":" + text_of(draws, target->domain().dim());
        std::getline(file, expected);
        EXPECT_EQ(actual, expected);
        ++cases;
      }
    }
  }
  EXPECT_FALSE(std::getline(file, expected)) << "more is kept than was tried: " << expected;
  EXPECT_GT(cases, 80);
}

}  // namespace
}  // namespace saltus
