#include "saltus/core/error.hpp"
#include "saltus/text/bleu.hpp"
#include "text/ngrams.hpp"

namespace saltus {
namespace {

// How often each n-gram of `sentences` is there, by its number in `ngrams`.
std::vector<std::int64_t> count_ngrams(Ngrams& ngrams, std::span<const Sentence> sentences, int n) {
  std::vector<std::int64_t> counts;
  Ngrams::Numbers numbers;
  for (const Sentence& sentence : sentences) {
    ngrams.add(sentence, numbers);
    counts.resize(static_cast<std::size_t>(ngrams.count(n)));
    for (const std::int32_t number : numbers[static_cast<std::size_t>(n - 1)]) {
      ++counts[static_cast<std::size_t>(number)];
    }
  }
  return counts;
}

double share(std::int64_t part, std::span<const std::int64_t> counts) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

void check_order(int n) {
  if (n < 1) throw UsageError("n-grams have at least one word");
}

}  // namespace

double unique_ngrams(std::span<const Sentence> sentences, int n) {
  check_order(n);
  Ngrams ngrams(n);
  const std::vector<std::int64_t> counts = count_ngrams(ngrams, sentences, n);
  std::int64_t once = 0;
  for (const std::int64_t count : counts) once += count == 1;
  return share(once, counts);
}

double unique_ngrams(std::span<const Sentence> sentences, int n, std::span<const Sentence> corpus) {
  check_order(n);
  Ngrams ngrams(n);
  const auto known = count_ngrams(ngrams, corpus, n).size();
  const std::vector<std::int64_t> counts = count_ngrams(ngrams, sentences, n);
  // Numbers from `known` on were not met in the corpus.
  return share(static_cast<std::int64_t>(counts.size() - std::min(known, counts.size())), counts);
}

}  // namespace saltus
