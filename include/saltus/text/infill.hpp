// Filling the gaps of a sentence: the distribution of Zhang, Liu & Liu, ICML 2022, section 6.5,
//
//   U(theta) = sum_i log softmax(BERT(sentence with gap i masked, the other gaps filled))_theta_i,
//
// over the word pieces theta_i in the gaps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/sampler/sampler.hpp"
#include "saltus/target/target.hpp"
#include "saltus/text/bert_files.hpp"

namespace saltus {

// Which pieces may stand in a gap. The levels of a coordinate are the allowed pieces alone, so that
// the others have probability 0 in every proposal.
struct AllowedPieces {
  bool special = false;        // [CLS], [unused7], ...
  bool continuations = false;  // "##..."
};
// Their ids, in increasing order.
std::vector<std::int32_t> allowed_pieces(const WordPieces& pieces, const AllowedPieces& allowed);

// A masked language model on its device, for any number of sentences (TorchModule makes them).
class MaskedModel {
 public:
  virtual ~MaskedModel() = default;
  virtual const BertFiles& files() const = 0;
};

struct InfillProblem {
  std::vector<std::int32_t> ids;   // [CLS] ... [SEP], with [MASK] in the gaps
  std::vector<std::int32_t> gaps;  // their places in ids, increasing
};

// Throws DataError when there is no [MASK], or the sentence is too long for the model.
InfillProblem make_infill_problem(const BertFiles& bert, const std::string& text);

// A categorical target: coordinate i is gap i, level k of it is piece allowed()[k].
class InfillTarget : public Target {
 public:
  virtual const InfillProblem& problem() const = 0;
  virtual const std::vector<std::int32_t>& allowed() const = 0;

  // log softmax of the model at gap gaps[r] of row r, over the allowed pieces (not normalised among
  // them): that gap masked and the others filled. `all_masked`: the others masked too. Unlike
  // `evaluate` these two throw, when memory runs out, say.
  virtual void log_probabilities(const At& at, Rows<const Symbol> x, std::span<const int> gaps,
                                 bool all_masked, Rows<float> out) const = 0;
  // log f_i of each gap: the terms of U.
  virtual void terms(const At& at, Rows<const Symbol> x, Rows<double> out) const = 0;
};

// Starting states: each gap drawn from the model's law with all gaps masked; chain and gap are the
// random numbers' counters.
RowBuffer<Symbol> draw_from_marginals(const InfillTarget& target, int chains, std::uint64_t seed);

// Draws one gap, chosen at random, from BERT's own conditional law (renormalised over the allowed
// pieces). This is the Gibbs sampler of the paper's experiment: the conditional of the model, not
// of U, whose own would take as many evaluations as there are pieces. The target must outlive it,
// and is the only one that it serves.
std::unique_ptr<Sampler> make_conditional_gibbs(const InfillTarget& target);

}  // namespace saltus
