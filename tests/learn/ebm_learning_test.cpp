#include "saltus/learn/ebm_learning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>

#include "fake_network.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/learn/ais_run.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_models.hpp"

namespace saltus {
namespace {

constexpr int kPixels = 12;

// Images of 3 x 4 pixels whose left or right half is on, with noise; learning must find the pairs.
RowBuffer<Symbol> halves(int rows, std::uint64_t seed) {
  RowBuffer<Symbol> data(rows, kPixels);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::check);
    const bool right = stream.uniform(0) < 0.5;
    for (int i = 0; i < kPixels; ++i) {
      const bool on = (i % 4 >= 2) == right;
      data.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(1 + i)) < 0.1 ? !on : on;
    }
  }
  return data;
}

ByteRows as_bytes(Rows<const Symbol> rows, int one = 1) {
  ByteRows bytes{rows.cols, {}};
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) bytes.bytes.push_back(static_cast<std::uint8_t>(x * one));
  }
  return bytes;
}

ImageSet small_images(bool grey) {
  ImageSet images;
  images.name = "halves", images.height = 3, images.width = 4, images.grey = grey;
  images.train = as_bytes(halves(300, 1).view(), grey ? 255 : 1);
  images.valid = as_bytes(halves(200, 2).view(), grey ? 255 : 1);
  return images;
}

// A whole small problem.
struct Lesson {
  ImageSet images;
  RowBuffer<Symbol> valid = halves(200, 2);
  std::vector<double> mean;
  FakeNetwork network;
  std::unique_ptr<EbmLearning> learning;

  static EbmPlan small_plan() {
    EbmPlan plan;
    plan.batch = 20, plan.buffer = 200, plan.steps = 5;
    plan.rate = 0.02, plan.rate_warmup = 50, plan.iterations = 400;
    plan.validate_every = 100, plan.validation_betas = 200, plan.validation_chains = 50;
    plan.record_every = 10, plan.seed = 11, plan.threads = 2;
    return plan;
  }

  explicit Lesson(const EbmPlan& plan = small_plan(), bool grey = false,
                  const std::string& sampler = "dmala",
                  const Settings& settings = {{"step_size", "0.3"}})
      : images(small_images(grey)), mean(base_mean(images, plan.seed)), network(mean) {
    const Target& target = network.target();
    learning =
        std::make_unique<EbmLearning>(network, Independent::bernoulli(target.domain(), mean),
                                      images, make_sampler(sampler, target, settings),
                                      make_sampler("dmala", target, {{"step_size", "0.3"}}), plan);
  }

  // Until everything is done, or so many iterations.
  void go(std::uint64_t until = ~std::uint64_t{0}) {
    while (!learning->done()) {
      if (learning->validation_due()) {
        learning->validate();
      } else if (learning->iteration() < until) {
        learning->step();
      } else {
        return;
      }
    }
  }
};

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

double exact_likelihood(const Target& target, Rows<const Symbol> data) {
  return mean_logp(target, data) - exact_answer(target).log_z;
}

TEST(EbmLearning, LearnsAndValidates) {
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

TEST(EbmLearning, KeepsTheBestParametersNotTheLast) {
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

// One chain that has all the weight, or chains that stand still, are no estimate: they may not make
// parameters the best.
TEST(EbmLearning, TrustsValidationsOfSeveralChainsThatMove) {
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
TEST(EbmLearning, AnnealingEnclosesLogZOfTheLearned) {
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

const Settings kTuned = {{"step_size", "0.15"}, {"adapt", "true"}};

// The step size follows the acceptance, of which the start has far too much.
TEST(EbmLearning, TunesTheStepSizeAllTheTime) {
  EbmPlan plan = Lesson::small_plan();
  plan.iterations = 1000;
  Lesson lesson(plan, false, "dmala", kTuned);
  const EbmInfo first = lesson.learning->step();
  EXPECT_GT(first.acceptance, 0.9);
  EXPECT_NEAR(first.step_size, 0.15, 1e-12);
  lesson.go();
  const std::vector<EbmInfo>& history = lesson.learning->history();
  double acceptance = 0;
  for (std::size_t k = history.size() - 30; k < history.size(); ++k) {
    acceptance += history[k].acceptance / 30;
  }
  // 300 iterations of 100 proposals: the standard error is below 0.01.
  EXPECT_NEAR(acceptance, 0.574, 0.03);
  EXPECT_GT(history.back().step_size, 0.4);
  // Validation makes steps of that size, too: the validator's own are far smaller.
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
  EXPECT_LT(seen, acceptance_of("0.3") - 0.1);
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
void check_that_it_goes_on(const Settings& settings) {
  EbmPlan plan = Lesson::small_plan();
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

// DULA learns, but another kernel has to validate.
TEST(EbmLearning, ValidatesWithAnExactKernelOnly) {
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
TEST(EbmLearning, StopsAtALikelihoodAboveZero) {
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
