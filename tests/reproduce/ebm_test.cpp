// The cells of Table 1 with a network that is solved exactly: f(x) = sum of the first parameters
// times x, so that pixels stay independent and log Z is known.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "reproduce/data/image_sets.hpp"
#include "reproduce/ebm/cell.hpp"
#include "saltus/core/error.hpp"
#include "saltus/learn/adam.hpp"
#include "saltus/target/bernoulli.hpp"

namespace saltus::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr int kHeight = 3, kWidth = 4, kPixels = 12;

class LinearTarget final : public Target {
 public:
  LinearTarget(std::vector<double> mean, std::vector<float> at)
      : domain_(Domain::binary(kPixels)), mean_(std::move(mean)), parameters(std::move(at)) {}
  std::string name() const override { return "linear"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override {
    for (int r = 0; r < x.rows; ++r) {
      double sum = 0;
      for (std::size_t i = 0; i < kPixels; ++i) {
        const int k = static_cast<int>(i);
        sum += x[r][k] ? std::log(mean_[i]) + double{parameters[i]} : std::log1p(-mean_[i]);
        const double slope = std::log(mean_[i]) - std::log1p(-mean_[i]) + double{parameters[i]};
        if (score) score[r][k] = static_cast<float>(slope);
      }
      if (logp) logp[r] = sum;
    }
  }
  double log_z() const {
    double sum = 0;
    for (std::size_t i = 0; i < kPixels; ++i) {
      sum += std::log(1 - mean_[i] + mean_[i] * std::exp(double{parameters[i]}));
    }
    return sum;
  }

 private:
  Domain domain_;
  std::vector<double> mean_;

 public:
  std::vector<float> parameters;
};

class LinearNetwork final : public LearningNetwork {
 public:
  explicit LinearNetwork(const ResnetEnergy& start)
      : target_(start.base_mean, start.parameters),
        averaged_(target_),
        adam_(start.parameters.size(), {}) {}
  const Target& target() const override { return target_; }
  const Target& averaged() const override { return averaged_; }
  Means update(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) override {
    if (fail_at > 0 && adam_.steps() + 1 == fail_at) throw DataError("log p is not finite");
    Means means;
    std::vector<float> gradient(target_.parameters.size()), moved = target_.parameters;
    for (const bool of_data : {true, false}) {
      const Rows<const Symbol> rows = of_data ? data : samples;
      for (int r = 0; r < rows.rows; ++r) {
        (of_data ? means.data : means.samples) += logp_of(target_, rows[r]) / rows.rows;
        for (std::size_t i = 0; i < kPixels; ++i) {
          const float part = static_cast<float>(rows[r][i]) / static_cast<float>(rows.rows);
          gradient[i] += of_data ? -part : part;
        }
      }
    }
    adam_.step(moved, gradient);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      target_.parameters[i] += static_cast<float>(rate / 1e-3) * (moved[i] - target_.parameters[i]);
    }
    averaged_.parameters = target_.parameters;
    return means;
  }
  std::vector<float> parameters() const override { return target_.parameters; }
  std::vector<float> averaged_parameters() const override { return averaged_.parameters; }
  void save(ByteWriter& out) const override {
    out.put_array(std::span<const float>(target_.parameters));
    adam_.save(out);
  }
  void restore(ByteReader& in) override {
    in.get_array(std::span(target_.parameters));
    adam_.restore(in);
    averaged_.parameters = target_.parameters;
  }

  static inline std::uint64_t fail_at = 0;  // the update that fails

 private:
  LinearTarget target_, averaged_;
  Adam adam_;
};

ImageSet small_images(const std::string& name) {
  ImageSet images;
  images.name = name, images.height = kHeight, images.width = kWidth;
  if (name == "omniglot") images.notes = {"Not the usual characters."};
  for (ByteRows* part : {&images.train, &images.valid, &images.test}) {
    part->cols = kPixels;
    for (int k = 0; k < 60 * kPixels; ++k) {
      part->bytes.push_back(static_cast<std::uint8_t>(k % 5 == 0 || k % kPixels == 3));
    }
  }
  return images;
}

const EbmMakers kMakers = {
    small_images, [](ResnetEnergy start, double) { return std::make_unique<LinearNetwork>(start); },
    [](ResnetEnergy e) {
      return std::make_unique<LinearTarget>(std::move(e.base_mean), std::move(e.parameters));
    }};

class EbmCells : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    work.folder = fs::temp_directory_path() / (std::string("saltus-ebm-") + info->name());
    fs::remove_all(work.folder);
    work.protocol = EbmProtocol::quick();
    work.protocol.shape = {kHeight, kWidth, 2, 1, 1};
    work.protocol.plan.threads = 1;
    work.watch = [](const std::string&) { return true; };
    LinearNetwork::fail_at = 0;
  }
  void TearDown() override { fs::remove_all(work.folder); }
  std::string text(const std::string& name) const {
    std::ifstream file(work.folder / cell.folder() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  EbmWork work;
  EbmCell cell = chosen_cells({"static_mnist/dmala"})[0];
};

TEST(EbmTable, HasFourCellsOfEverySet) {
  EXPECT_EQ(chosen_cells({}).size(), 16u);
  EXPECT_EQ(chosen_cells({"caltech"}).size(), 4u);
  for (const EbmCell& cell : chosen_cells({})) EXPECT_FALSE(std::isnan(cell.paper)) << cell.name();
  EXPECT_EQ(ebm_cells().size(), 31u);  // three more for each set, and three for Caltech
  const auto two = chosen_cells({"caltech/dula", "omniglot/gwg"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].paper, -100.52);
  EXPECT_EQ(two[0].settings().at("step_size"), "0.1");
  EXPECT_EQ(two[1].paper, -94.72);
  EXPECT_EQ(two[1].settings().at("flips"), "1");
  const EbmCell steady = chosen_cells({"caltech/dmala_steady"}).at(0);
  EXPECT_EQ(steady.folder(), "caltech-dmala_steady");
  EXPECT_FALSE(steady.published());
  EXPECT_EQ(steady.settings().at("adapt"), "true");
  EXPECT_THROW(chosen_cells({"mnist/hmc"}), UsageError);
}

TEST(EbmTable, TheFullProtocolIsThePapers) {
  const EbmProtocol p = EbmProtocol::full();
  EXPECT_EQ(parameter_count(p.shape), 599'873u);
  EXPECT_EQ(p.plan.iterations, 50'000u);
  EXPECT_EQ(p.plan.steps, 40u);
  EXPECT_EQ(p.plan.batch, 100);
  EXPECT_EQ(p.plan.buffer, 10'000);
  EXPECT_EQ(p.plan.rate, 1e-4);
  EXPECT_EQ(p.plan.rate_warmup, 10'000u);
  EXPECT_EQ(p.plan.validate_every, 5'000u);
  EXPECT_EQ(p.plan.validation_betas, 10'000);
  EXPECT_EQ(p.plan.validation_chains, 100);
  EXPECT_EQ(p.network.average_decay, 0.999);
  EXPECT_EQ(p.betas, 300'000);
  EXPECT_EQ(p.chains, 132);
  EXPECT_EQ(validations_every("static_mnist", p), 5'000u);
  EXPECT_EQ(validations_every("caltech", p), 1'000u);
  EXPECT_EQ(validations_every("caltech", EbmProtocol::quick()), 30u);
}

TEST_F(EbmCells, LearnsAndEnclosesTheLikelihood) {
  work.protocol.plan.iterations = 300;
  work.protocol.chains = 200;
  double exact = NAN;  // log Z of what is evaluated
  EbmMakers makers = kMakers;
  makers.target = [&](ResnetEnergy energy) {
    auto target =
        std::make_unique<LinearTarget>(std::move(energy.base_mean), std::move(energy.parameters));
    exact = target->log_z();
    return target;
  };
  ASSERT_TRUE(work_on(cell, work, makers));
  const EbmRecord record = read_record(cell, work.folder);
  ASSERT_TRUE(record.evaluation);
  EXPECT_EQ(record.history.back().iteration, 300u);
  EXPECT_EQ(record.validations.size(), 10u);
  EXPECT_EQ(record.evaluation->images, 60);
  // Independent pixels with the data's means cannot do better than their entropy.
  const ImageSet images = first_images(small_images("static_mnist"), work.protocol.images);
  double entropy = 0;
  for (int i = 0; i < kPixels; ++i) {
    double p = 0;
    for (int r = 0; r < 60; ++r) p += images.test.view()[r][i] / 60.0;
    if (p > 0 && p < 1) entropy -= p * std::log(p) + (1 - p) * std::log1p(-p);
  }
  const EbmEvaluation& e = *record.evaluation;
  EXPECT_LT(e.forward - 3 * e.forward_error, exact);
  EXPECT_GT(e.reverse + 3 * e.reverse_error, exact);
  EXPECT_NEAR(e.forward, exact, 0.1);
  const double ll = (e.low + e.high) / 2;
  EXPECT_LT(ll, -entropy + 0.3);
  EXPECT_GT(ll, -entropy - 1);
  EXPECT_LT(record.evaluation->low, record.evaluation->high);
  EXPECT_NEAR(record.chosen()->log_likelihood(), ll, 0.3);
}

// Stopped as often as possible, all comes out as in one go.
TEST_F(EbmCells, GoesOnWhereItStopped) {
  ASSERT_TRUE(work_on(cell, work, kMakers));
  const EbmRecord whole = read_record(cell, work.folder);
  fs::remove_all(work.folder);
  int calls = 0;
  int left = 0;
  work.watch = [&](const std::string&) { return --left > 0; };
  do {
    left = 9;
    ASSERT_LT(++calls, 200);
  } while (!work_on(cell, work, kMakers));
  EXPECT_GT(calls, 5);
  const EbmRecord parts = read_record(cell, work.folder);
  ASSERT_EQ(parts.validations.size(), whole.validations.size());
  EXPECT_EQ(parts.validations.back().log_z, whole.validations.back().log_z);
  EXPECT_EQ(parts.history.back().data_logp, whole.history.back().data_logp);
  EXPECT_EQ(parts.evaluation->forward, whole.evaluation->forward);
  EXPECT_EQ(parts.evaluation->reverse, whole.evaluation->reverse);
  EXPECT_EQ(parts.evaluation->low, whole.evaluation->low);
}

TEST_F(EbmCells, MoreIterationsAreEvaluatedAnew) {
  work.protocol.plan.iterations = 30;
  ASSERT_TRUE(work_on(cell, work, kMakers));
  EXPECT_EQ(read_record(cell, work.folder).evaluation->iterations, 30u);
  const std::string before = text("evaluation.json");
  ASSERT_TRUE(work_on(cell, work, kMakers));  // nothing to do
  EXPECT_EQ(text("evaluation.json"), before);
  work.protocol.plan.iterations = 60;
  ASSERT_TRUE(work_on(cell, work, kMakers));
  EXPECT_EQ(read_record(cell, work.folder).evaluation->iterations, 60u);
}

TEST_F(EbmCells, AnotherProtocolIsRefused) {
  ASSERT_TRUE(work_on(cell, work, kMakers));
  work.seed = 2;
  EXPECT_THROW(work_on(cell, work, kMakers), UsageError);
}

TEST_F(EbmCells, FailureIsNotedAndTheBestEvaluated) {
  LinearNetwork::fail_at = 45;
  ASSERT_TRUE(work_on(cell, work, kMakers));
  const EbmRecord record = read_record(cell, work.folder);
  EXPECT_NE(record.failure.find("iteration 44"), std::string::npos) << record.failure;
  ASSERT_TRUE(record.evaluation);
  EXPECT_EQ(record.evaluation->best_iteration, 30u);
  const Results results = ebm_results({record}, work.protocol, false, true);
  EXPECT_NE(results.rows[0].note.find("Learning ended early: "), std::string::npos);
}

// Stopped at the start of its evaluation, and again and again in the midst of it, a learning that
// failed is evaluated as in one go.
TEST_F(EbmCells, AFailureIsEvaluatedInSlices) {
  LinearNetwork::fail_at = 45;
  ASSERT_TRUE(work_on(cell, work, kMakers));
  const EbmEvaluation whole = *read_record(cell, work.folder).evaluation;
  fs::remove_all(work.folder);
  int calls = 0, left = 0;
  work.watch = [&](const std::string& doing) {
    return doing.find("log Z") == std::string::npos || --left > 0;
  };
  do {
    left = 1 + calls;
    ASSERT_LT(++calls, 200);
  } while (!work_on(cell, work, kMakers));
  EXPECT_GT(calls, 2);
  const EbmRecord parts = read_record(cell, work.folder);
  EXPECT_NE(parts.failure.find("iteration 44"), std::string::npos) << parts.failure;
  ASSERT_TRUE(parts.evaluation);
  EXPECT_EQ(parts.evaluation->best_iteration, whole.best_iteration);
  EXPECT_EQ(parts.evaluation->iterations, whole.iterations);
  EXPECT_EQ(parts.evaluation->forward, whole.forward);
  EXPECT_EQ(parts.evaluation->reverse, whole.reverse);
}

// The cells after it are not to suffer, and it can be tried again.
TEST_F(EbmCells, AProblemOfTheEvaluationIsNoted) {
  EbmMakers makers = kMakers;
  makers.target = [](const ResnetEnergy&) -> std::unique_ptr<Target> {
    throw DataError("there is no memory");
  };
  ASSERT_TRUE(work_on(cell, work, makers));
  const EbmRecord record = read_record(cell, work.folder);
  EXPECT_FALSE(record.evaluation);
  const Results results = ebm_results({record}, work.protocol, true, true);
  EXPECT_NE(results.findings.back().find("static_mnist/dmala (there is no memory)"),
            std::string::npos)
      << results.findings.back();
  ASSERT_TRUE(work_on(cell, work, kMakers));
  EXPECT_TRUE(read_record(cell, work.folder).evaluation);
  EXPECT_EQ(read_record(cell, work.folder).problem, "");
}

// What another protocol left, a failure above all, is not taken for this one's.
TEST_F(EbmCells, AFailureOfAnotherProtocolIsRefused) {
  LinearNetwork::fail_at = 10;  // before any validation
  ASSERT_TRUE(work_on(cell, work, kMakers));
  EXPECT_FALSE(read_record(cell, work.folder).evaluation);
  work.seed = 2;
  EXPECT_THROW(work_on(cell, work, kMakers), UsageError);
}

TEST_F(EbmCells, ATunedCellKeepsItsStepSizes) {
  cell = chosen_cells({"static_mnist/dmala_tuned"})[0];
  ASSERT_TRUE(work_on(cell, work, kMakers));
  const EbmRecord record = read_record(cell, work.folder);
  ASSERT_TRUE(record.evaluation);
  EXPECT_NE(record.history.front().step_size, record.history.back().step_size);
  EXPECT_TRUE(fs::exists(work.folder / "static_mnist-dmala_tuned"));
}

TEST_F(EbmCells, ABoundedCellHasAPenaltyAndIsNoOther) {
  double seen = 0;
  EbmMakers makers = kMakers;
  makers.network = [&](ResnetEnergy start, double penalty) {
    seen = penalty;
    return kMakers.network(std::move(start), penalty);
  };
  ASSERT_TRUE(work_on(cell, work, makers));
  EXPECT_EQ(seen, 0);
  cell = chosen_cells({"static_mnist/dmala_bounded"})[0];
  EXPECT_EQ(cell.settings().at("adapt"), "true");
  fs::rename(work.folder / "static_mnist-dmala", work.folder / "static_mnist-dmala_bounded");
  EXPECT_THROW(work_on(cell, work, makers), UsageError);
  EXPECT_EQ(seen, 1e-4);
}

// Its rate grows over the first ten iterations; the paper's goes to that of the protocol.
TEST_F(EbmCells, ASlowCellHasARateOfItsOwn) {
  const auto last_rate = [&](const std::string& name) {
    cell = chosen_cells({name})[0];
    EXPECT_TRUE(work_on(cell, work, kMakers));
    return read_record(cell, work.folder).history.back().rate;
  };
  EXPECT_DOUBLE_EQ(last_rate("caltech/dmala_1e-5"), 1e-5);
  EXPECT_TRUE(fs::exists(work.folder / "caltech-dmala_1e-5" / "evaluation.json"));
  EXPECT_DOUBLE_EQ(last_rate("caltech/dmala"), 3e-3);
  fs::remove_all(work.folder / "caltech-dmala");
  fs::rename(work.folder / "caltech-dmala_1e-5", work.folder / "caltech-dmala");
  EXPECT_THROW(work_on(cell, work, kMakers), UsageError);
}

EbmRecord made_up(const std::string& name, double low, double high) {
  EbmRecord record;
  record.cell = chosen_cells({name})[0];
  EbmEvaluation e;
  e.images = 10'000, e.low = low, e.high = high, e.betas = 300'000, e.chains = 132;
  e.iterations = 50'000, e.best_iteration = 45'000;
  e.forward_ess = 40, e.reverse_ess = 30;
  record.evaluation = e;
  EbmInfo info;
  info.iteration = 50'000, info.sampling_seconds = 0.03, info.update_seconds = 0.01;
  record.history = {info};
  record.validations = {{45'000, -20, 60, 0.1, 50, 0.5, 10}};
  return record;
}

TEST(EbmResults, JudgeTheWholeProtocolOnly) {
  const auto judged = [](EbmRecord record) {
    return ebm_results({record}, EbmProtocol::full(), false, true).rows[0];
  };
  const Row close = judged(made_up("static_mnist/dmala", -80, -79.8));
  EXPECT_EQ(close.verdict, Verdict::agrees);
  EXPECT_EQ(close.paper, -79.46);
  EXPECT_NEAR(close.ours, -79.9, 1e-12);
  EXPECT_EQ(close.setting["low"], -80);
  EXPECT_EQ(judged(made_up("static_mnist/dmala", -83, -82)).verdict, Verdict::differs);
  EbmRecord few = made_up("static_mnist/dmala", -80, -79.8);
  few.evaluation->reverse_ess = 13;
  EXPECT_EQ(judged(few).verdict, Verdict::undecided);
  EXPECT_NE(judged(few).note.find("fewer than 20 chains"), std::string::npos);
  EbmRecord shorter = made_up("static_mnist/dmala", -80, -79);
  shorter.evaluation->iterations = 5000;
  EXPECT_EQ(judged(shorter).verdict, Verdict::undecided);
  EXPECT_NE(judged(shorter).note.find("Cut: 5000 of 50000"), std::string::npos);
  EbmRecord longer = made_up("static_mnist/dmala", -80, -79);
  longer.evaluation->iterations = 80'000;
  EXPECT_EQ(judged(longer).verdict, Verdict::undecided);
  EXPECT_NE(judged(longer).note.find("Longer: 80000 iterations"), std::string::npos);
  EbmRecord other = made_up("omniglot/dmala", -91, -90);
  other.notes = {"Not the usual characters."};
  EXPECT_EQ(judged(other).verdict, Verdict::undecided);
  EXPECT_NE(judged(other).note.find("Not the usual characters."), std::string::npos);
  EbmRecord reduced = made_up("caltech/dmala", -88, -87);
  reduced.evaluation->betas = 30'000, reduced.evaluation->chains = 100;
  EXPECT_EQ(judged(reduced).verdict, Verdict::agrees);
  EXPECT_NE(judged(reduced).note.find("Reduced: log Z from 30000 betas and 100"),
            std::string::npos);
  const Row quick = ebm_results({other}, EbmProtocol::quick(), true, true).rows[0];
  EXPECT_FALSE(quick.paper);
  EXPECT_EQ(quick.verdict, Verdict::not_published);
}

// Where reverse annealing contradicts the forward direction, what the latter says alone counts.
TEST(EbmResults, TrustTheForwardDirection) {
  EbmRecord record = made_up("caltech/dmala", -89.1, -93.2);
  record.evaluation->mean_logp = -905;
  record.evaluation->forward = -810, record.evaluation->reverse = -816;
  record.failure = "learning failed in iteration 17411";
  const Results results = ebm_results({record}, EbmProtocol::full(), false, true);
  const Row& row = results.rows[0];
  EXPECT_DOUBLE_EQ(row.ours, -95);
  EXPECT_TRUE(row.setting["low"].is_null());
  EXPECT_NEAR(row.setting["high"].get<double>(), -95 + std::log(20), 1e-12);
  EXPECT_EQ(row.verdict, Verdict::differs);  // the paper has -87.82
  EXPECT_NE(row.note.find("At most -92.00 with 95 % confidence"), std::string::npos) << row.note;
  EXPECT_NE(row.note.find("iteration 17411"), std::string::npos) << row.note;
  EXPECT_NE(results.findings[0].find("of learning that failed in iteration"), std::string::npos)
      << results.findings[0];
}

TEST(EbmResults, TellWhichParametersWereEvaluated) {
  EbmRecord record = made_up("caltech/dmala_bounded", -78, -75);
  record.history[0].changed = 1.5;
  record.validations.push_back({50'000, -10, 60, 0.1, 50, 0.5, 10});
  ASSERT_TRUE(record.chosen());
  EXPECT_EQ(record.chosen()->iteration, 45'000u);
  const auto note = [&] {
    return ebm_results({record}, EbmProtocol::full(), false, true).rows[0].note;
  };
  EXPECT_NE(note().find("parameters of iteration 45000, of the best validation that counts"),
            std::string::npos)
      << note();
  EXPECT_EQ(note().find("stand still"), std::string::npos) << note();
  record.history[0].changed = 0.002;
  EXPECT_NE(note().find("stand still: 0.002 pixels"), std::string::npos) << note();
  const Results results = ebm_results({record}, EbmProtocol::full(), false, true);
  EXPECT_NE(results.findings[0].find("stand still at its end"), std::string::npos);
  record.evaluation->best_iteration = 50'000;
  EXPECT_EQ(note().find("parameters of iteration"), std::string::npos) << note();
  record.evaluation.reset();
  EXPECT_EQ(record.chosen()->iteration, 50'000u);
}

TEST(EbmResults, TunedStepSizesAreNotThePapers) {
  EbmRecord record = made_up("caltech/dmala_tuned", -91, -90);
  record.history[0].step_size = 0.08;
  const Results results = ebm_results({record}, EbmProtocol::full(), false, true);
  EXPECT_FALSE(results.rows[0].paper);
  EXPECT_EQ(results.rows[0].verdict, Verdict::not_published);
  EXPECT_FALSE(results.rows[0].setting.contains("alpha"));
  EXPECT_EQ(record.cell.settings().at("adapt"), "true");
  EXPECT_EQ(chosen_cells({"caltech/dmala"})[0].settings().count("adapt"), 0u);
  const bool told = std::any_of(results.rows.begin(), results.rows.end(), [](const Row& r) {
    return r.quantity == "step_size" && r.ours == 0.08;
  });
  EXPECT_TRUE(told);
}

TEST(EbmResults, AnotherRateIsNotThePapers) {
  const EbmRecord record = made_up("caltech/dula_1e-5", -91, -90);
  const Row row = ebm_results({record}, EbmProtocol::full(), false, true).rows[0];
  EXPECT_FALSE(row.paper);
  EXPECT_EQ(row.verdict, Verdict::not_published);
  EXPECT_EQ(row.setting["sampler"], "DULA, rate 1e-5");
  EXPECT_EQ(row.setting["alpha"], 0.1);
  EXPECT_EQ(row.setting["rate"], 1e-5);
  EXPECT_NE(row.note.find("the learning rate is 1e-05 instead of 0.0001"), std::string::npos)
      << row.note;
  EXPECT_EQ(chosen_cells({"caltech/gwg_1e-5"})[0].label, "GWG-1, rate 1e-5");
  EXPECT_THROW(chosen_cells({"omniglot/gwg_1e-5"}), UsageError);
}

TEST(EbmResults, BoundedEnergiesAreNotThePapers) {
  const EbmRecord record = made_up("caltech/dmala_bounded", -91, -90);
  const Results results = ebm_results({record}, EbmProtocol::full(), false, true);
  EXPECT_FALSE(results.rows[0].paper);
  EXPECT_EQ(results.rows[0].verdict, Verdict::not_published);
  EXPECT_NE(results.rows[0].note.find("0.0001 times the mean squares of f"), std::string::npos)
      << results.rows[0].note;
}

TEST(EbmResults, SayWhatIsNotComplete) {
  EbmRecord begun = made_up("caltech/gwg", 0, 0), never;
  begun.evaluation.reset();
  never.cell = chosen_cells({"caltech/gibbs"})[0];
  const Results r = ebm_results({begun, never}, EbmProtocol::full(), false, false);
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_NE(r.findings[0].find("caltech/gwg (at iteration 50000)"), std::string::npos);
  EXPECT_NE(r.findings[0].find("The same command goes on"), std::string::npos);
  EXPECT_EQ(r.sections[0].tables[0].rows.size(), 2u);
}

}  // namespace
}  // namespace saltus::reproduce
