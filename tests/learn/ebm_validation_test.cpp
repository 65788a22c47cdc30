// Validations of a deep energy that is being learned: what they estimate, and which of them count.
#include <gtest/gtest.h>

#include <cmath>

#include "ebm_lesson.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/learn/ebm_run.hpp"
#include "saltus/learn/likelihood.hpp"

namespace saltus {
namespace {

double exact_likelihood(const Target& target, Rows<const Symbol> data) {
  return mean_logp(target, data) - exact_answer(target).log_z;
}

TEST(EbmValidation, LearnsAndValidates) {
  Lesson lesson;
  const double before = exact_likelihood(lesson.network.averaged(), lesson.valid.view());
  lesson.go();
  const EbmLearning& learning = *lesson.learning;
  EXPECT_EQ(learning.iteration(), 400u);
  const double after = exact_likelihood(lesson.network.averaged(), lesson.valid.view());
  // Independent pixels have 12 ln 2; two noisy halves ln 2 + 12 * 0.325.
  EXPECT_NEAR(before, -12 * std::log(2), 0.2);
  EXPECT_GT(after, -6);
  ASSERT_EQ(learning.validations().size(), 4u);
  const Validation& last = learning.validations().back();
  EXPECT_EQ(last.iteration, 400u);
  EXPECT_NEAR(last.log_z, exact_answer(lesson.network.averaged()).log_z, 4 * last.standard_error);
  EXPECT_NEAR(last.log_likelihood(), after, 4 * last.standard_error + 1e-9);
  ASSERT_TRUE(learning.best());
  for (const Validation& v : learning.validations()) {
    EXPECT_LE(v.log_likelihood(), learning.best()->log_likelihood());
    EXPECT_GT(v.ess, 1);
  }
  ASSERT_EQ(learning.history().size(), 40u);
  EXPECT_EQ(learning.history()[0].iteration, 10u);
  EXPECT_GT(learning.history()[5].acceptance, 0.3);
}

TEST(EbmValidation, KeepsTheBestParametersNotTheLast) {
  Lesson lesson;
  lesson.go(100);
  const std::vector<float> good = lesson.network.averaged_parameters();
  while (lesson.learning->iteration() < 200) lesson.learning->step();
  lesson.network.set_averaged(-0.5f);  // all pixels off
  ASSERT_TRUE(lesson.learning->validate());
  ASSERT_EQ(lesson.learning->validations().size(), 2u);
  EXPECT_EQ(lesson.learning->best()->iteration, 100u);
  EXPECT_EQ(lesson.learning->best_parameters(), good);
}

std::vector<std::vector<Symbol>> listed(const RowBuffer<Symbol>& rows) {
  std::vector<std::vector<Symbol>> list;
  for (int r = 0; r < rows.view().rows; ++r) {
    list.emplace_back(rows.view()[r], rows.view()[r] + rows.view().cols);
  }
  return list;
}

// Chains that have followed other parameters since say nothing on the best ones.
TEST(EbmValidation, KeepsTheBufferOfTheBestParameters) {
  Lesson lesson;
  EbmLearning& learning = *lesson.learning;
  lesson.go(50);
  EXPECT_EQ(listed(learning.best_samples(150)), listed(learning.samples(150)));
  lesson.go(100);
  const auto then = listed(learning.samples(150));
  while (learning.iteration() < 200) learning.step();
  lesson.network.set_averaged(-0.5f);
  ASSERT_TRUE(learning.validate());
  ASSERT_EQ(learning.best()->iteration, 100u);
  EXPECT_EQ(listed(learning.best_samples(150)), then);
  EXPECT_NE(listed(learning.samples(150)), then);
  ByteWriter out;
  learning.save(out);
  Lesson other;
  ByteReader in(out.bytes());
  other.learning->restore(in);
  EXPECT_EQ(listed(other.learning->best_samples(150)), then);
}

// The sampler of the learning validates where it is exact and uses the gradient.
TEST(EbmValidation, ChoosesTheSamplerOfValidations) {
  const Lesson lesson;
  const auto chosen = [&](const std::string& sampler, const Settings& settings) {
    return validator_of(sampler, settings, lesson.network.target());
  };
  EXPECT_EQ(chosen("gwg", {})->name(), "gwg");
  EXPECT_EQ(chosen("dmala", {{"step_size", "0.2"}})->name(), "dmala");
  EXPECT_DOUBLE_EQ(*chosen("dmala", {{"step_size", "0.2"}})->step_size(), 0.2);
  EXPECT_EQ(chosen("dula", {{"step_size", "0.1"}})->name(), "dmala");
  EXPECT_DOUBLE_EQ(*chosen("dula", {{"step_size", "0.1"}})->step_size(), 0.1);
  EXPECT_EQ(chosen("gibbs", {})->name(), "dmala");
  EXPECT_DOUBLE_EQ(*chosen("gibbs", {})->step_size(), 0.15);
}

// One chain that has all the weight, or chains that stand still, are no estimate: they may not make
// parameters the best.
TEST(EbmValidation, TrustsValidationsOfSeveralChainsThatMove) {
  const auto validation = [](std::uint64_t iteration, double log_likelihood, double ess,
                             double acceptance = 0.8) {
    Validation v;
    v.iteration = iteration, v.mean_logp = log_likelihood, v.ess = ess, v.acceptance = acceptance;
    return v;
  };
  std::vector<Validation> all;
  EXPECT_EQ(best_of(all), nullptr);
  all = {validation(1, -90, 1.5), validation(2, -80, 1.01)};
  EXPECT_EQ(best_of(all)->iteration, 2u);  // of none that is sound, the highest
  all.push_back(validation(3, -100, 2));
  EXPECT_EQ(best_of(all)->iteration, 3u);
  all.push_back(validation(4, -95, 4));
  all.push_back(validation(5, -97, 40));
  all.push_back(validation(6, -60, 1));
  all.push_back(validation(7, -65, 16, 0.07));
  EXPECT_EQ(best_of(all)->iteration, 4u);
  all = {validation(1, -90, 1.5), validation(2, 30, 1)};
  EXPECT_EQ(best_of(all)->iteration, 1u);  // above 0 is impossible
}

// The learned energy, best parameters, in both directions.
TEST(EbmValidation, AnnealingEnclosesLogZOfTheLearned) {
  Lesson lesson;
  lesson.go();
  const FakeEnergy best(lesson.mean, lesson.learning->best_parameters());
  const Tempered path(best, Independent::bernoulli(best.domain(), lesson.mean));
  AisPlan plan;
  plan.annealing.betas = linear_betas(1000);
  plan.annealing.chains = 200;
  plan.warmup = 500;
  const RowBuffer<Symbol> start = lesson.learning->samples(200);
  AisRun run(path, make_sampler("gwg", path, {}), plan, start.view());
  ASSERT_TRUE(run.go());
  const AisResult r = run.result();
  const double exact = exact_answer(best).log_z;
  EXPECT_LT(r.low(), exact);
  EXPECT_GT(r.high(), exact);
  EXPECT_LT(r.high() - r.low(), 0.3);
  const LikelihoodInterval ll = log_likelihood(mean_logp(best, lesson.valid.view()), r);
  const double truth = exact_likelihood(best, lesson.valid.view());
  EXPECT_LT(ll.low, truth);
  EXPECT_GT(ll.high, truth);
}

// DULA learns, but another kernel has to validate.
TEST(EbmValidation, ValidatesWithAnExactKernelOnly) {
  Lesson lesson(Lesson::small_plan(), false, "dula");
  lesson.go(100);
  EXPECT_EQ(lesson.learning->validations().size(), 1u);
  const Target& target = lesson.network.target();
  EXPECT_THROW(
      EbmLearning(lesson.network, Independent::bernoulli(target.domain(), lesson.mean),
                  lesson.images, make_sampler("dula", target, {{"step_size", "0.1"}}),
                  make_sampler("dula", target, {{"step_size", "0.1"}}), Lesson::small_plan()),
      UsageError);
}

// All averaged parameters are large: mass sits at all ones, but with two betas and the chains of a
// base at 0.01 the estimate of log Z stays far too low. Returns the validations, and what was said.
std::vector<Validation> validate_far_off(int chains, std::string& words) {
  EbmPlan plan = Lesson::small_plan();
  plan.iterations = plan.validate_every = 1;
  plan.validation_betas = 2, plan.validation_chains = chains;
  Lesson lesson(plan);
  const std::vector<double> low(kPixels, 0.01);
  FakeNetwork network(low);
  ImageSet ones = lesson.images;
  ones.valid.bytes.assign(5 * kPixels, 1);
  const Target& target = network.target();
  EbmLearning learning(network, Independent::bernoulli(target.domain(), low), ones,
                       make_sampler("dmala", target, {{"step_size", "0.3"}}),
                       make_sampler("dmala", target, {{"step_size", "0.3"}}), plan);
  learning.step();
  network.set_averaged(5);
  try {
    learning.validate();
  } catch (const DataError& e) {
    words = e.what();
  }
  return learning.validations();
}

// A model under which every image has a probability above 1 is none.
TEST(EbmValidation, StopsAtALikelihoodAboveZero) {
  std::string words;
  EXPECT_TRUE(validate_far_off(20, words).empty());
  EXPECT_NE(words.find("validation log-likelihood"), std::string::npos) << words;
  // Of one chain alone it says nothing.
  words = "";
  const std::vector<Validation> seen = validate_far_off(80, words);
  EXPECT_EQ(words, "");
  EXPECT_LT(seen.at(0).ess, 2);
  EXPECT_GT(seen[0].log_likelihood(), 0);
}

}  // namespace
}  // namespace saltus
