// Learning by contrastive divergence. Each iteration goes up the gradient
//
//   mean over a batch of data of d logp / d parameters - the same over samples of the model,
//
// with the samples from k steps of a sampler that starts at the batch (CD-k: Hinton, "Training
// products of experts by minimizing contrastive divergence", 2002) or where the chains of the last
// iteration ended (persistent CD: Tieleman, "Training restricted Boltzmann machines using
// approximations to the likelihood gradient", ICML 2008).
#pragma once

#include <memory>
#include <vector>

#include "saltus/learn/adam.hpp"
#include "saltus/learn/batches.hpp"
#include "saltus/learn/learning_chains.hpp"
#include "saltus/learn/trainable.hpp"

namespace saltus {

struct LearningPlan {
  int batch = 100;           // rows of data in an iteration
  bool drop_last = false;    // see Batches
  int chains = 0;            // persistent ones, which start at random; 0: CD
  std::uint64_t steps = 10;  // of the sampler in an iteration
  double l1 = 0;             // the loss has l1 * (sum of |weights|)
  AdamOptions adam = {};
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a result
  // Processes that share the chains and the gradient, all with this plan and the same data. They
  // all learn alike, but for those that find no chains to move and are idle.
  Team* team = nullptr;
};

// What an iteration did.
struct LearningInfo {
  double gap = 0;         // mean logp of the data - that of the samples
  double loss = 0;        // -gap + penalty
  double difference = 0;  // part of the coordinates in which samples differ from the data they
                          // started at (CD: the reconstruction error); NaN for persistent chains
  double acceptance = 0, proposed = 0, changed = 0;  // means over chains and steps
  double sampling_seconds = 0, gradient_seconds = 0, update_seconds = 0;
};

class ContrastiveDivergence {
 public:
  // The model and the data must outlive it. Throws UsageError when the plan does not fit the data,
  // or the sampler has to be tuned first; DataError when the data do not fit the model.
  ContrastiveDivergence(Trainable& model, Rows<const Symbol> data,
                        std::unique_ptr<const Sampler> sampler, const LearningPlan& plan);

  bool idle() const { return chains_.idle(); }
  Team* team() const { return chains_.team(); }  // of those that are not idle

  // One iteration. Throws DataError when a parameter would no longer be finite.
  LearningInfo step();

  std::uint64_t iteration() const { return iteration_; }  // how many are done
  const Batches& batches() const { return batches_; }
  const Sampler& sampler() const { return *sampler_; }
  // Of the last iteration: the states that the gradient took for the model's, and the gradient of
  // the loss.
  Rows<const Symbol> samples() const { return chains_.states(); }
  std::span<const float> gradient() const { return gradient_; }

  // Parameters, what Adam remembers, and the chains: all that is needed to go on.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  void load_batch();
  void sample(LearningInfo& info);
  double penalty_and_loss_gradient();

  Trainable& model_;
  Rows<const Symbol> data_;
  std::unique_ptr<const Sampler> sampler_;
  LearningPlan plan_;
  Batches batches_;
  LearningChains chains_;
  ThreadPool pool_;
  Adam adam_;
  std::uint64_t iteration_ = 0;
  RowBuffer<Symbol> batch_;
  std::vector<float> gradient_;
};

}  // namespace saltus
