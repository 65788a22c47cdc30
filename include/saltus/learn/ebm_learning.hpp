// Learning a network energy of binary images from chains in a replay buffer. In each iteration some
// entries of the buffer make a few steps of a sampler on the current model and are written back;
// then Adam goes down the gradient of
//
//   loss = mean over those entries of log p - mean over a batch of data of log p.
//
// How good a model is, only the log-likelihood of data that it did not learn from tells: mean log p
// less log Z, which annealed importance sampling estimates now and then for the averaged
// parameters. Those with the best one are kept.
//
// The loop is that of Grathwohl, Swersky, Hashemi, Duvenaud & Maddison, "Oops I took a gradient:
// scalable sampling for discrete distributions", ICML 2021.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/anneal/annealing.hpp"
#include "saltus/io/image_set.hpp"
#include "saltus/learn/batches.hpp"
#include "saltus/learn/learning_chains.hpp"
#include "saltus/learn/learning_network.hpp"
#include "saltus/learn/replay_buffer.hpp"
#include "saltus/run/adapt.hpp"

namespace saltus {

struct EbmPlan {
  int batch = 100;      // rows of data, and entries of the buffer, in an iteration
  int buffer = 10'000;  // entries
  std::uint64_t steps = 40;
  double rate = 1e-4;                  // of Adam, after
  std::uint64_t rate_warmup = 10'000;  // iterations in which it grows from 0
  double rate_decay = 0;               // share of the iterations, the last, in which it falls to 0
  std::uint64_t gwg_steps = 0;         // of `steps`, the last: by GWG, which changes one pixel
  double restart = 0;                  // chance that a chosen chain starts anew, from the base
  std::uint64_t iterations = 50'000;   // in all
  std::uint64_t validate_every = 5'000;  // iterations; also after the last one. 0: never
  int validation_betas = 10'000, validation_chains = 100;
  std::uint64_t record_every = 100;  // iterations; the history keeps their means
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a result
  // Processes that share the chains, of the buffer and of validations, all with this plan and the
  // same images. All of them update the network alike, but for those that find no chains to move
  // and are idle.
  Team* team = nullptr;
};

// The learning rate of an iteration, counted from 0: rate * iteration / rate_warmup, then rate,
// which in the last iterations falls to 0 along a line.
double learning_rate(const EbmPlan& plan, std::uint64_t iteration);

// The mean of each pixel that an energy's base has: 0.98 mean + 0.01, the mean being that of the
// training images or, where they are grey, of one drawing of them. Throws DataError when there are
// none.
std::vector<double> base_mean(const ImageSet& images, std::uint64_t seed);

// Rows to judge a model by. Grey ones are drawn once, the same for every seed.
RowBuffer<Symbol> validation_rows(const ImageSet& images);
RowBuffer<Symbol> test_rows(const ImageSet& images);

// What an iteration did; also the means over several.
struct EbmInfo {
  std::uint64_t iteration = 0;                       // how many were done then
  double data_logp = 0, sample_logp = 0;             // mean log p, both up to the same constant
  double acceptance = 0, proposed = 0, changed = 0;  // means over chains and steps
  double rate = 0;
  double step_size = 0;  // of the sampler, where it has one
  double sampling_seconds = 0, update_seconds = 0;
  double seconds = 0;  // of all iterations until then

  double loss() const { return sample_logp - data_logp; }
  // Chains that cannot follow the network: they are far from what it has become, or so few of their
  // pixels change in a step that they tell it nothing any more.
  static constexpr double kLargestLoss = 100;
  bool runs_away() const { return !(std::abs(loss()) <= kLargestLoss); }
  bool stands_still() const { return changed < 0.05; }
};

// Of the averaged parameters after `iteration` iterations.
struct Validation {
  std::uint64_t iteration = 0;
  double mean_logp = 0;                                           // of the validation data
  double log_z = 0, standard_error = 0, ess = 0, acceptance = 0;  // as in AisEstimate
  double seconds = 0;

  double log_likelihood() const { return mean_logp - log_z; }
  // With a smaller effective sample size one chain makes up most of the estimate.
  bool of_several() const { return ess >= 2; }
  // Chains that hardly ever accept stay where the model has little mass, all alike, with weights
  // that agree. Without either, log Z may be far higher, and the log-likelihood lower.
  bool sound() const { return of_several() && acceptance >= 0.25; }
  // Probabilities of discrete data are at most 1.
  bool possible() const { return log_likelihood() <= 0; }
};

// The highest log-likelihood, of sound and possible ones if there are any; null when there is none.
const Validation* best_of(const std::vector<Validation>& validations);

class EbmLearning {
 public:
  // The network and the images must outlive it. Grey images are drawn anew for every batch, as a
  // function of the seed and the iteration; without images to validate with there is no validation.
  // `base` is the law that the energy's base term stands for: the buffer starts from it, and so
  // does the annealing. `validator` makes the transitions of the annealing and must be exact. A
  // sampler that is to be tuned (`adapt`) is so all the time, a little after every iteration: the
  // steeper an energy gets, the smaller are the steps that it accepts. What counts are proposals
  // that change something: those that change nothing are always accepted, and would hide chains
  // whose proposals never are. A validator of the same name then takes the same steps. Throws
  // UsageError when the plan makes no sense or a sampler cannot serve; DataError when the data do
  // not fit the model.
  EbmLearning(LearningNetwork& network, const Independent& base, const ImageSet& images,
              std::unique_ptr<const Sampler> sampler, std::unique_ptr<const Sampler> validator,
              const EbmPlan& plan);
  ~EbmLearning();

  bool idle() const { return chains_.idle(); }
  Team* team() const { return chains_.team(); }  // of those that are not idle

  // One iteration. Throws DataError when a log p is no longer finite.
  EbmInfo step();

  std::uint64_t iteration() const { return iteration_; }  // how many are done
  bool done() const { return iteration_ >= plan_.iterations && !validation_due(); }
  const EbmPlan& plan() const { return plan_; }
  const Sampler& sampler() const { return *sampler_; }
  const Batches& batches() const { return batches_; }

  // True when the next thing to do is to validate: step() must wait for it.
  bool validation_due() const;
  // Goes on with the validation until it is complete, or until `proceed`, told which part is done,
  // returns false. True when it is complete. Throws DataError when a log-likelihood, of several
  // chains, is above 0, which that of discrete data cannot be: log Z is then far off, and learning
  // has gone wrong.
  bool validate(const std::function<bool(double done)>& proceed = {});

  const std::vector<EbmInfo>& history() const { return history_; }
  const std::vector<Validation>& validations() const { return validations_; }
  // The best validation, and the averaged parameters then. Null and empty before the first one.
  const Validation* best() const { return best_of(validations_); }
  const std::vector<float>& best_parameters() const { return best_parameters_; }

  // Entries of the buffer, those that moved in the last iteration first; at most all of them.
  RowBuffer<Symbol> samples(int count) const;
  // The same of the buffer as it was at the best validation: chains near best_parameters(). As the
  // buffer is now before the first validation.
  RowBuffer<Symbol> best_samples(int count) const;

  // All that is needed to go on, in the middle of a validation too. What restores must have been
  // made with the same plan, but for the number of iterations. In a team, members that do not lead
  // write their chains of a validation alone; join_parts puts all together.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  struct Estimation;  // a validation that is under way

  static LearningChains::Plan chains_of(const LearningNetwork& network, const Sampler& sampler,
                                        const EbmPlan& plan);
  ChainRange validation_range() const;
  void load_batch();
  void start_some_anew();
  void sample(EbmInfo& info);
  void tune();
  std::shared_ptr<const Sampler> annealing_sampler() const;
  std::string acceptance_text() const;
  static RowBuffer<Symbol> entries_of(const ReplayBuffer& buffer, std::uint64_t iteration,
                                      int count, int dim);
  void record(const EbmInfo& info);
  void begin_validation();
  void finish_validation();

  LearningNetwork& network_;
  Independent base_;
  const ImageSet& images_;
  RowBuffer<Symbol> valid_;
  std::shared_ptr<const Sampler> sampler_, validator_;
  std::shared_ptr<const Sampler> gwg_;      // null: no such steps
  std::shared_ptr<const Sampler> untuned_;  // what sampler_ is at the values tuned_; else null
  std::vector<double> tuned_;
  std::optional<AcceptanceSums> acceptance_;  // of this iteration, where something is tuned
  EbmPlan plan_;
  Batches batches_;
  ReplayBuffer buffer_;
  LearningChains chains_;
  std::uint64_t iteration_ = 0;
  RowBuffer<Symbol> batch_;

  EbmInfo sums_;              // since the last point of the history,
  std::uint64_t summed_ = 0;  // iterations in the sums
  double seconds_ = 0;        // of all iterations
  std::vector<EbmInfo> history_;
  std::vector<Validation> validations_;
  std::vector<float> best_parameters_;
  std::optional<ReplayBuffer> best_buffer_;
  std::unique_ptr<Estimation> estimation_;
};

}  // namespace saltus
