// How good and how varied sentences are: BLEU (Papineni, Roukos, Ward & Zhu, ACL 2002) over a
// corpus, and the n-grams that are found once, or not in a corpus.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace saltus {

using Sentence = std::vector<std::string>;  // its words

constexpr int kBleuOrder = 4;

// Words up to kBleuOrder in a row with equal weights, no smoothing: 0 when there is no match of
// some order. Matches, n-grams and lengths are summed over the sentences, as corpus_bleu of NLTK
// does; a sentence that is too short for an order counts as one n-gram without a match.
struct BleuScore {
  double bleu = 0;                                // in [0, 1]
  std::array<double, kBleuOrder> precision = {};  // of 1-grams, 2-grams, ...
  double brevity_penalty = 0;
  std::int64_t length = 0;            // words of the sentences
  std::int64_t reference_length = 0;  // of the references closest to each in length, the shorter
};

// References that every sentence is compared with. Their n-grams are counted once, so that scores
// are cheap.
class BleuReferences {
 public:
  // Throws DataError when there are none.
  explicit BleuReferences(std::span<const Sentence> references);
  BleuReferences(BleuReferences&&) noexcept;
  ~BleuReferences();

  BleuScore score(std::span<const Sentence> sentences) const;

 private:
  struct Counts;
  std::unique_ptr<Counts> counts_;
};

// Each sentence with all the others as references: low when the sentences differ. Throws DataError
// for fewer than two.
BleuScore self_bleu(std::span<const Sentence> sentences);

// Of the n-grams of the sentences, the share that occurs once.
double unique_ngrams(std::span<const Sentence> sentences, int n);
// The number of different n-grams that the corpus does not have, divided by the number of all.
double unique_ngrams(std::span<const Sentence> sentences, int n, std::span<const Sentence> corpus);

}  // namespace saltus
