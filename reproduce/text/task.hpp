// Sentences whose gaps are to be filled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace saltus::reproduce::text {

using Words = std::vector<std::string>;

struct Task {
  std::string corpus;  // "TBC", "WT103"
  std::size_t line;    // in its corpus
  Words words;
  std::vector<int> gaps;  // places of words, increasing; neither the first nor the last

  // For the model: [MASK] in the gaps.
  std::string masked() const;
  Words filled(const Words& words_in_gaps) const;
};

constexpr std::size_t kFewestWords = 15, kMostWords = 25;
constexpr double kMasked = 0.25;  // of the words

// `count` sentences of 15 to 25 words, drawn from those of a corpus with round(n / 4) gaps each at
// random places. The draw depends on the seed and the corpus's name.
std::vector<Task> draw_tasks(const std::string& corpus, std::span<const Words> sentences, int count,
                             std::uint64_t seed);

// The random seed of a task's chains.
std::uint64_t seed_of_task(std::uint64_t seed, std::size_t task);

// For each word in the gaps of some completions of one task, whether another one has the same word
// in the same gap.
std::vector<std::vector<bool>> repeated(const std::vector<Words>& completions);

}  // namespace saltus::reproduce::text
