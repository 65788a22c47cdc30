// Words for the gaps of a sentence, by a masked language model. Needs libtorch.
//
//   Infiller infiller;                                 // the model that comes with saltus
//   const InfillResult result = infiller.fill({.text = "the [MASK] sat by the [MASK] ."});
//   ... result.distinct[0].words
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {

struct InfillRequest {
  std::string text = {};  // with [MASK] in its gaps
  AllowedPieces allowed = {};
  std::string sampler = "dmala";  // gibbs: draws a gap from the language model's conditional law
  Settings settings = {};
  int chains = 25, threads = 0;
  std::uint64_t steps = 50, warmup = 30, seed = 1;  // warm-up only where something is tuned
};

// How a chain ended, or several that ended alike.
struct Completion {
  std::vector<std::string> words;
  double energy = 0;          // U, the larger the better
  std::vector<double> log_f;  // its terms
  std::vector<int> chains;    // their numbers
};

struct InfillResult {
  bool complete = true;              // not stopped; otherwise there are no completions
  std::vector<Completion> chains;    // of every chain
  std::vector<Completion> distinct;  // the best first
  std::size_t allowed = 0;           // pieces that may stand in a gap
  RunStatistics statistics;
  std::vector<Parameter> parameters;
  bool tuned = false, exact = true;  // of the sampler
};

// A filling that was given: U, its terms and rows of its gradient, over all pieces.
struct InfillScore {
  InfillProblem problem;
  Completion completion;
  struct GradientRow {
    double norm = 0, largest = 0;
    std::int32_t where = 0;  // the piece with the largest
  };
  std::vector<GradientRow> gradient;
};

// Told between rounds; false stops the work.
using InfillProgress = std::function<bool(const RunStatus&)>;

// Holds a language model, which is put onto its device for the first sentence.
class Infiller {
 public:
  explicit Infiller(BertFiles bert = default_bert(), DeviceChoice device = {})
      : bert_(std::move(bert)), device_(device) {}

  const BertFiles& bert() const { return bert_; }
  // Throws DataError when the text has no gap, or is too long for the model.
  InfillProblem problem(const std::string& text) const { return make_infill_problem(bert_, text); }
  // The ids of the words that score() is given. Throws UsageError when they do not fit the gaps, or
  // one is not a piece of the vocabulary.
  std::vector<std::int32_t> ids_of(const InfillProblem& problem,
                                   const std::vector<std::string>& words) const;

  InfillResult fill(const InfillRequest& request, const InfillProgress& progress = {});
  InfillScore score(const std::string& text, const std::vector<std::string>& words);

 private:
  std::unique_ptr<InfillTarget> target_of(const InfillProblem& problem,
                                          const AllowedPieces& allowed);
  std::vector<Completion> completions(const InfillTarget& target, Rows<const Symbol> x) const;
  std::int32_t id_of(const std::string& word) const;

  BertFiles bert_;
  DeviceChoice device_;
  std::shared_ptr<const MaskedModel> model_;
};

}  // namespace saltus
