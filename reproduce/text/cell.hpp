// One cell of the experiment on text: a sentence whose gaps are to be filled, a sampler and a seed.
// Chains that fill the gaps.
#pragma once

#include <memory>

#include "reproduce/experiment.hpp"
#include "reproduce/kept_cells.hpp"
#include "saltus/text/infill.hpp"

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

struct Scale {
  int sentences;  // of each corpus
  int chains;
  std::uint64_t steps;
  int top;                    // chains of a sentence that are kept, by U
  int swept;                  // sentences of each corpus on which the step size is chosen
  bool starts_alike = false;  // all chains of a sentence with the same words
};
Scale scale_of(bool quick);

// How the chains of a cell ended.
struct Filling {
  std::vector<Words> words;            // by chain, those in the gaps
  std::vector<double> energy;          // U of each
  double acceptance = 0, changed = 0;  // means over chains and steps; gaps
  double seconds = 0;                  // of the clock, for the sampler alone

  static std::string file_of(const Json& key);  // that keeps it
  static constexpr const char* kNames = "words energy acceptance changed seconds";
  auto kept() { return std::tie(words, energy, acceptance, changed, seconds); }
  bool sound() const { return words.size() == energy.size(); }
  // The best chains, with ties in the order of the chains.
  std::vector<std::size_t> best(int count) const;
};

// A masked language model, ready for sentences.
struct Model {
  BertFiles bert;
  std::string sum;  // of the contents of its files' arrays and pieces
  Device device = Device::cpu;
  // On its device as soon as a cell needs it: finished ones need no device.
  mutable std::shared_ptr<const MaskedModel> masked = nullptr;

  std::unique_ptr<InfillTarget> fill(const InfillProblem& problem) const;
};
// Throws UsageError where there is no libtorch, FileError and DataError. An empty folder is the
// model that comes with the program.
Model load_model(const std::filesystem::path& folder, Device device);

// What the chains of a sentence start from: words of the model's marginals, each chain's own or
// those of the first chain.
RowBuffer<Symbol> start_states(const InfillTarget& target, const Scale& scale, std::uint64_t seed);

Filling run_cell(Context& context, const Model& model, const Task& task, const Entrant& entrant,
                 const Scale& scale, std::uint64_t seed_of_chains, const std::string& doing);

// What a cell is named by: it is the same computation when this is the same.
Json key_of(const Model& model, const Task& task, const Entrant& entrant, const Scale& scale,
            Device device, std::uint64_t seed_of_chains);

using Shelf = KeptCells<Filling>;

}  // namespace saltus::reproduce::text
