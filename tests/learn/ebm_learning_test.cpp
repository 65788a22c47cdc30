#include "saltus/learn/ebm_learning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "ebm_lesson.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

TEST(EbmPlan, RateGrowsFromZero) {
  EbmPlan plan;
  EXPECT_EQ(learning_rate(plan, 0), 0);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 1), 1e-8);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 5000), 5e-5);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 9999), 0.9999e-4);
  EXPECT_EQ(learning_rate(plan, 10'000), 1e-4);
  EXPECT_EQ(learning_rate(plan, 49'999), 1e-4);
  plan.rate_warmup = 0;
  EXPECT_EQ(learning_rate(plan, 0), 1e-4);
}

TEST(EbmPlan, RateFallsToZeroInTheEnd) {
  EbmPlan plan;
  plan.rate_decay = 0.4;
  EXPECT_DOUBLE_EQ(learning_rate(plan, 5000), 5e-5);
  EXPECT_EQ(learning_rate(plan, 30'000), 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 40'000), 5e-5);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 49'999), 1e-4 / 20'000);
  plan.rate_decay = 1;  // while it still grows
  EXPECT_DOUBLE_EQ(learning_rate(plan, 5000), 5e-5);
  EXPECT_DOUBLE_EQ(learning_rate(plan, 10'000), 0.8e-4);
}

TEST(EbmLearning, GivesTheNetworkTheRateOfTheIteration) {
  Lesson lesson;
  lesson.go(100);
  ASSERT_EQ(lesson.network.rates.size(), 100u);
  for (std::uint64_t k = 0; k < 100; ++k) {
    EXPECT_DOUBLE_EQ(lesson.network.rates[k], 0.02 * std::min(1.0, static_cast<double>(k) / 50));
  }
}

TEST(EbmLearning, BaseMeanIsThatOfTheData) {
  const Lesson lesson;
  for (int i = 0; i < kPixels; ++i) {
    double mean = 0;
    for (int r = 0; r < 300; ++r) mean += lesson.images.train.view()[r][i] / 300.0;
    EXPECT_NEAR(lesson.mean[static_cast<std::size_t>(i)], 0.98 * mean + 0.01, 1e-12);
  }
}

TEST(EbmLearning, GreyDataAreDrawnAnew) {
  ImageSet grey;
  grey.grey = true;
  grey.train.cols = kPixels;
  for (int r = 0; r < 4000; ++r) {
    for (int i = 0; i < kPixels; ++i) {
      grey.train.bytes.push_back(static_cast<std::uint8_t>(i * 255 / 11));
    }
  }
  const std::vector<double> mean = base_mean(grey, 3);
  EXPECT_EQ(mean.front(), 0.01);  // of bits that are never and always on
  EXPECT_EQ(mean.back(), 0.98 + 0.01);
  for (std::size_t i = 1; i < 11; ++i) {
    const double p = std::floor(static_cast<double>(i) * 255 / 11) / 255;
    EXPECT_NEAR(mean[i], 0.98 * p + 0.01, 5 * std::sqrt(p * (1 - p) / 4000));
  }
  // With black and white alone nothing is left to chance, so that the batches are the same.
  Lesson plain, black_and_white(Lesson::small_plan(), true);
  plain.go(3), black_and_white.go(3);
  EXPECT_EQ(plain.network.last_data, black_and_white.network.last_data);
  EXPECT_EQ(plain.network.parameters(), black_and_white.network.parameters());
  // Otherwise a row is another one when it comes again: an epoch later, with grey pixels.
  EbmPlan plan = Lesson::small_plan();
  plan.validate_every = 0;
  plan.batch = 10, plan.iterations = 2;
  grey.train.bytes.resize(10 * kPixels);
  FakeNetwork network(mean);
  EbmLearning learning(network, Independent::bernoulli(network.target().domain(), mean), grey,
                       make_sampler("dmala", network.target(), {{"step_size", "0.3"}}), nullptr,
                       plan);
  learning.step();
  const std::vector<Symbol> first = network.last_data;
  learning.step();
  EXPECT_NE(first, network.last_data);
}

TEST(EbmLearning, MovesTheChosenEntriesOnly) {
  EbmPlan plan = Lesson::small_plan();
  plan.steps = 1;
  Lesson lesson(plan, false, "gibbs", {});
  const auto all = [&] {
    const RowBuffer<Symbol> rows = lesson.learning->samples(plan.buffer);
    std::multiset<std::vector<Symbol>> set;
    for (int r = 0; r < plan.buffer; ++r) set.insert({rows.view()[r], rows.view()[r] + kPixels});
    return set;
  };
  const auto before = all();
  const EbmInfo info = lesson.learning->step();
  const auto after = all();
  // One step of Gibbs draws one pixel of each of 20 chains.
  std::vector<std::vector<Symbol>> gone;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(gone));
  EXPECT_GT(gone.size(), 2u);
  EXPECT_LE(static_cast<double>(gone.size()), info.changed * 20 + 1e-9);
  EXPECT_EQ(info.proposed, 1);
}

// The buffer's chains are those of the sampler: steps are numbered through the iterations.
TEST(EbmLearning, RandomNumbersNeverComeTwice) {
  EbmPlan plan = Lesson::small_plan();
  plan.buffer = plan.batch;  // all of them move in every iteration
  plan.rate = 0;             // on a model that stays the base
  plan.validate_every = 0, plan.iterations = 4000, plan.steps = 1;
  Lesson lesson(plan, false, "gibbs", {});
  std::vector<double> mean(kPixels);
  for (int k = 0; k < 4000; ++k) {
    lesson.learning->step();
    const RowBuffer<Symbol> rows = lesson.learning->samples(plan.batch);
    for (int r = 0; r < plan.batch; ++r) {
      for (std::size_t i = 0; i < mean.size(); ++i) {
        mean[i] += rows.view()[r][i] / (4000.0 * plan.batch);
      }
    }
  }
  // 80,000 states, about 24 steps to forget a pixel: the mean has a deviation of about 0.009.
  // Chains that got the same numbers again and again would stand still.
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], lesson.mean[i], 0.045);
}

// DMALA's steps are far too small to change a pixel; those of GWG reach the model, which stays the
// base. What is told of the steps is DMALA's.
TEST(EbmLearning, MakesSomeStepsByGwg) {
  EbmPlan plan = Lesson::small_plan();
  plan.buffer = plan.batch, plan.rate = 0, plan.validate_every = 0;
  plan.steps = 4, plan.gwg_steps = 3, plan.iterations = 2000;
  Lesson lesson(plan, false, "dmala", {{"step_size", "0.001"}});
  std::vector<double> mean(kPixels);
  for (int k = 0; k < 2000; ++k) {
    EXPECT_EQ(lesson.learning->step().proposed, 0);
    const RowBuffer<Symbol> rows = lesson.learning->samples(plan.batch);
    for (int r = 0; r < plan.batch; ++r) {
      for (std::size_t i = 0; i < mean.size(); ++i) {
        mean[i] += rows.view()[r][i] / (2000.0 * plan.batch);
      }
    }
  }
  // 40,000 states, about 8 steps of four iterations to forget a pixel: a deviation below 0.009.
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_NEAR(mean[i], lesson.mean[i], 0.045);
}

const Settings kTuned = {{"step_size", "0.15"}, {"adapt", "true"}};

// The step size follows the acceptance, of which the start has far too much.
TEST(EbmLearning, TunesTheStepSizeAllTheTime) {
  EbmPlan plan = Lesson::small_plan();
  plan.iterations = 1000, plan.rate_decay = 1;  // so that the chains follow in the end
  Lesson lesson(plan, false, "dmala", kTuned);
  const EbmInfo first = lesson.learning->step();
  EXPECT_GT(first.acceptance, 0.9);
  EXPECT_NEAR(first.step_size, 0.15, 1e-12);
  lesson.go();
  const std::vector<EbmInfo>& history = lesson.learning->history();
  double size = 0, acceptance = 0;
  for (std::size_t k = history.size() - 10; k < history.size(); ++k) {
    size += history[k].step_size / 10, acceptance += history[k].acceptance / 10;
  }
  // At the step sizes of the end, which fluctuate, proposals that change something have the
  // acceptance that is aimed at; with those that change nothing it is higher.
  const Target& target = lesson.network.target();
  LearningChains chains(target, {.chains = 20});
  AcceptanceSums real(20, 1);
  chains.start_random();
  const auto steps = make_sampler("dmala", target, {{"step_size", std::to_string(size)}});
  chains.advance(*steps, {0, 10'000}, &real);
  EXPECT_NEAR(real.mean(0), 0.574, 0.03);
  EXPECT_GT(acceptance, 0.61);
  EXPECT_GT(history.back().step_size, 0.25);
  // Validation makes steps of that size, too: not the validator's own.
  const EbmLearning& learning = *lesson.learning;
  Tempered path(lesson.network.averaged(),
                Independent::bernoulli(lesson.network.target().domain(), lesson.mean));
  AisPlan plan_of_ais;
  plan_of_ais.annealing.betas = linear_betas(200);
  plan_of_ais.annealing.chains = 200;
  const auto acceptance_of = [&](const std::string& step_size) {
    return annealed_importance_sampling(
               path, make_sampler("dmala", path, {{"step_size", step_size}}), plan_of_ais)
        ->forward.acceptance;
  };
  const double seen = learning.validations().back().acceptance;
  EXPECT_NEAR(seen, acceptance_of(std::to_string(history.back().step_size)), 0.02);
  EXPECT_LT(seen, acceptance_of("0.15") - 0.1);
}

// The score wants every pixel flipped, which gains 10,000 or loses as much: nearly all proposals
// from a state of zeros are refused until a flip costs 5,000.
class Misleading final : public Target, public LearningNetwork {
 public:
  std::string name() const override { return "misleading"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override {
    for (int r = 0; r < x.rows; ++r) {
      if (logp) logp[r] = -1e4 * static_cast<double>(std::count(x[r], x[r] + kPixels, 1));
      for (int i = 0; score && i < kPixels; ++i) score[r][i] = x[r][i] ? -1e4f : 1e4f;
    }
  }
  const Target& target() const override { return *this; }
  const Target& averaged() const override { return *this; }
  Means update(Rows<const Symbol>, Rows<const Symbol>, double) override { return {}; }
  std::vector<float> parameters() const override { return {}; }
  std::vector<float> averaged_parameters() const override { return {}; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}

 private:
  Domain domain_ = Domain::binary(kPixels);
};

// Chains start with every pixel on and lose one in each iteration, so that those with 11 are those
// that have just started anew: 12,000 trials with a probability of 1/4, a deviation of 47.
TEST(EbmLearning, StartsAShareOfTheChainsAnew) {
  EbmPlan plan = Lesson::small_plan();
  plan.steps = 1, plan.validate_every = 0, plan.restart = 0.25;
  plan.buffer = plan.batch = 200, plan.iterations = 80;
  Misleading network;
  const std::vector<double> on(kPixels, 1 - 1e-9);
  const ImageSet images = small_images(false);
  EbmLearning learning(network, Independent::bernoulli(network.domain(), on), images,
                       make_sampler("gibbs", network, {{"scan", "systematic"}}), nullptr, plan);
  int fresh = 0, old = 0;
  while (learning.iteration() < plan.iterations) {
    learning.step();
    if (learning.iteration() <= 20) continue;
    const RowBuffer<Symbol> rows = learning.samples(plan.buffer);
    for (int r = 0; r < plan.buffer; ++r) {
      const auto left = std::count(rows.view()[r], rows.view()[r] + kPixels, 1);
      fresh += left == kPixels - 1, old += left == 0;
    }
  }
  EXPECT_NEAR(fresh, 3000, 5 * 47);
  EXPECT_NEAR(old, 12'000 * std::pow(0.75, 11), 5 * 50);  // chains of eleven iterations and more
}

// A network can become as steep as that within fifty iterations.
TEST(EbmLearning, TunesAsFastAsNetworksChange) {
  EbmPlan plan = Lesson::small_plan();
  plan.validate_every = 0, plan.iterations = 150;
  Misleading network;
  const ImageSet images = small_images(false);
  EbmLearning learning(network,
                       Independent::bernoulli(network.domain(), std::vector<double>(kPixels, 1e-9)),
                       images, make_sampler("dmala", network, kTuned), nullptr, plan);
  while (learning.iteration() < 20) learning.step();
  EXPECT_EQ(learning.step().acceptance, 0);
  while (learning.iteration() < 100) learning.step();
  double acceptance = 0;
  for (int k = 0; k < 50; ++k) acceptance += learning.step().acceptance / 50;
  // Proposals without a change are accepted, and no others: from 5,000 on, which is 1 / (2 alpha).
  EXPECT_NEAR(learning.history().back().step_size, 1e-4, 1e-5);
  EXPECT_GT(acceptance, 0.3);
}

// Saved and restored at every turn, in the middle of validations too.
void check_that_it_goes_on(const Settings& settings, EbmPlan plan = Lesson::small_plan()) {
  plan.iterations = 130;
  Lesson whole(plan, false, "dmala", settings);
  whole.go();
  auto part = std::make_unique<Lesson>(plan, false, "dmala", settings);
  int turns = 0, in_validation = 0;
  while (!part->learning->done()) {
    if (part->learning->validation_due()) {
      in_validation += !part->learning->validate([](double) { return false; });
    } else {
      for (int k = 0; k < 7 && !part->learning->validation_due(); ++k) part->learning->step();
    }
    ByteWriter out;
    part->learning->save(out);
    part = std::make_unique<Lesson>(plan, false, "dmala", settings);
    ByteReader in(out.bytes());
    part->learning->restore(in);
    EXPECT_TRUE(in.empty());
    ASSERT_LT(++turns, 500);
  }
  EXPECT_GT(turns, 20);
  EXPECT_GT(in_validation, 2);
  EXPECT_EQ(part->network.parameters(), whole.network.parameters());
  EXPECT_EQ(part->network.averaged_parameters(), whole.network.averaged_parameters());
  EXPECT_EQ(part->learning->best_parameters(), whole.learning->best_parameters());
  ASSERT_EQ(part->learning->validations().size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    const Validation &a = part->learning->validations()[k], &b = whole.learning->validations()[k];
    EXPECT_EQ(a.log_z, b.log_z);
    EXPECT_EQ(a.mean_logp, b.mean_logp);
    EXPECT_EQ(a.acceptance, b.acceptance);
  }
  ASSERT_EQ(part->learning->history().size(), whole.learning->history().size());
  for (std::size_t k = 0; k < whole.learning->history().size(); ++k) {
    EXPECT_EQ(part->learning->history()[k].loss(), whole.learning->history()[k].loss());
    EXPECT_EQ(part->learning->history()[k].changed, whole.learning->history()[k].changed);
  }
  const RowBuffer<Symbol> a = part->learning->samples(200), b = whole.learning->samples(200);
  for (int r = 0; r < 200; ++r) {
    EXPECT_TRUE(std::equal(a.view()[r], a.view()[r] + kPixels, b.view()[r]));
  }
}

TEST(EbmLearning, GoesOnAsIfNeverStopped) {
  check_that_it_goes_on({{"step_size", "0.3"}});
}

TEST(EbmLearning, GoesOnTuningAsIfNeverStopped) {
  check_that_it_goes_on(kTuned);
}

TEST(EbmLearning, GoesOnSteadilyAsIfNeverStopped) {
  EbmPlan plan = Lesson::small_plan();
  plan.gwg_steps = 2, plan.restart = 0.1, plan.rate_decay = 0.5;
  check_that_it_goes_on(kTuned, plan);
}

TEST(EbmLearning, ThreadsChangeNothing) {
  EbmPlan plan = Lesson::small_plan();
  plan.iterations = 100;
  plan.threads = 1;
  Lesson one(plan);
  plan.threads = 3;
  Lesson three(plan);
  one.go(), three.go();
  EXPECT_EQ(one.network.parameters(), three.network.parameters());
  EXPECT_EQ(one.learning->validations()[0].log_z, three.learning->validations()[0].log_z);
}

TEST(EbmLearning, SeedsDiffer) {
  EbmPlan plan = Lesson::small_plan();
  Lesson one(plan);
  plan.seed = 12;
  Lesson other(plan);
  one.go(60), other.go(60);
  EXPECT_NE(one.network.parameters(), other.network.parameters());
}

// A network whose target fails in its own code, once.
class Failing final : public Target {
 public:
  explicit Failing(const Target& target) : target_(target) {}
  std::string name() const override { return target_.name(); }
  const Domain& domain() const override { return target_.domain(); }
  int preferred_tile() const override { return target_.preferred_tile(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    if (calls_left > 0 && --calls_left == 0) throw ComputationError("no memory");
    target_.evaluate(at, x, logp, score);
  }
  mutable std::atomic<int> calls_left{0};

 private:
  const Target& target_;
};
class FailingNetwork final : public LearningNetwork {
 public:
  explicit FailingNetwork(FakeNetwork& network)
      : network_(network), current(network.target()), average(network.averaged()) {}
  const Target& target() const override { return current; }
  const Target& averaged() const override { return average; }
  Means update(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) override {
    return network_.update(data, samples, rate);
  }
  std::vector<float> parameters() const override { return network_.parameters(); }
  std::vector<float> averaged_parameters() const override { return network_.averaged_parameters(); }
  void save(ByteWriter& out) const override { network_.save(out); }
  void restore(ByteReader& in) override { network_.restore(in); }

 private:
  FakeNetwork& network_;

 public:
  Failing current, average;
};

// What the network's code throws is not taken for a network that diverged; and after it all goes on
// as if it had not been, in sampling and in a validation.
TEST(EbmLearning, GoesOnAfterAFailureOfTheNetwork) {
  Lesson whole;
  whole.go(100);
  Lesson part;
  FailingNetwork network(part.network);
  const Target& target = network.target();
  const auto sampler = [&] { return make_sampler("dmala", target, {{"step_size", "0.3"}}); };
  EbmLearning learning(network, Independent::bernoulli(target.domain(), part.mean), part.images,
                       sampler(), sampler(), Lesson::small_plan());
  const auto fails = [](Failing& at, int calls, const auto& f) {
    at.calls_left = calls;
    try {
      f();
      ADD_FAILURE() << "it went on";
    } catch (const ComputationError& e) {
      EXPECT_STREQ(e.what(), "no memory");
    }
  };
  while (learning.iteration() < 50) learning.step();
  fails(network.current, 1, [&] { learning.step(); });
  fails(network.current, 7, [&] { learning.step(); });
  while (learning.iteration() < 100) learning.step();
  fails(network.average, 1000, [&] { learning.validate(); });
  ASSERT_TRUE(learning.validate());
  EXPECT_EQ(part.network.parameters(), whole.network.parameters());
  EXPECT_EQ(learning.validations().at(0).log_z, whole.learning->validations().at(0).log_z);
}

TEST(EbmLearning, SaysWhenLearningFails) {
  Lesson lesson;
  lesson.network.break_after = 3;
  try {
    lesson.go(10);
    FAIL() << "it went on";
  } catch (const DataError& e) {
    EXPECT_NE(std::string(e.what()).find("learning failed in iteration 3"), std::string::npos)
        << e.what();
  }
}

TEST(EbmLearning, Refuses) {
  const auto refused = [](auto change) {
    EbmPlan plan = Lesson::small_plan();
    change(plan);
    EXPECT_THROW(Lesson lesson(plan), UsageError);
  };
  refused([](EbmPlan& p) { p.batch = 0; });
  refused([](EbmPlan& p) { p.batch = 301; });  // there are 300 images
  refused([](EbmPlan& p) { p.buffer = 19; });
  refused([](EbmPlan& p) { p.steps = 0; });
  refused([](EbmPlan& p) { p.rate = NAN; });
  refused([](EbmPlan& p) { p.rate = -1; });
  refused([](EbmPlan& p) { p.rate_decay = 1.1; });
  refused([](EbmPlan& p) { p.restart = NAN; });
  refused([](EbmPlan& p) { p.gwg_steps = p.steps; });
  refused([](EbmPlan& p) { p.validation_betas = 1; });
  refused([](EbmPlan& p) { p.validation_chains = 3; });
  refused([](EbmPlan& p) { p.record_every = 0; });
  Lesson lesson;
  const Target& target = lesson.network.target();
  const auto make = [&](const ImageSet& images, const Settings& settings) {
    EbmLearning(lesson.network, Independent::bernoulli(target.domain(), lesson.mean), images,
                make_sampler("dmala", target, settings),
                make_sampler("dmala", target, {{"step_size", "0.3"}}), Lesson::small_plan());
  };
  EXPECT_NO_THROW(make(lesson.images, {{"step_size", "0.3"}}));
  EXPECT_NO_THROW(make(lesson.images, {}));  // tuned, from a start of its own
  EXPECT_THROW(Lesson(Lesson::small_plan(), false, "dula", {}),
               UsageError);  // has no acceptance to be tuned by
  ImageSet narrow = lesson.images;
  narrow.train.cols = 10;
  EXPECT_THROW(make(narrow, {{"step_size", "0.3"}}), DataError);
  narrow.train.bytes.clear();
  EXPECT_THROW(base_mean(narrow, 1), DataError);
}

}  // namespace
}  // namespace saltus
