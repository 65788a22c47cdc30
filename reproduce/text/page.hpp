// The results of the experiment on text, as rows and as parts of a page.
#pragma once

#include "reproduce/text/measures.hpp"

namespace saltus::reproduce::text {

struct Completion {
  Words words;
  double energy = 0;
};

// All sentences of one sampler with one seed.
struct Outcome {
  Measures measures;
  std::vector<std::vector<Completion>> best;  // by task
  double acceptance = 0, changed = 0;         // changed: part of the gaps, in a step
  double energy = 0, top_energy = 0;          // mean U of all chains, of those that are kept
  double seconds = 0;
};

struct Standing {
  Entrant entrant;
  std::vector<std::optional<Outcome>> runs;  // by seed; none: not finished

  bool empty() const;
  template <class Of>
  Measured over_runs(Of of) const {
    std::vector<double> values;
    for (const auto& run : runs) {
      if (run) values.push_back(std::invoke(of, *run));
    }
    return measured(values);
  }
};

// Mean acceptance of DMALA by step size.
struct Sweep {
  std::vector<double> alphas, acceptance;
  std::optional<double> chosen;
};

struct TextResults {
  std::string model;
  BertConfig config;
  Scale scale;
  Sweep sweep;
  std::vector<Standing> standings;  // Gibbs, GWG, then DULA and DMALA by step size
  std::vector<Task> tasks;          // of the first run
  int missing;                      // cells, because time was up
};

// How far a statement of the paper, "a Langevin sampler is more diverse", was borne out.
struct Comparison {
  const Standing *langevin, *other;
  const Measure* measure;
  Measured difference;  // over seeds that both have finished; of the ratio where it is of quality
  Verdict verdict = Verdict::undecided;

  bool of_quality() const { return measure->of == &Measures::bleu; }
  // The difference with the sign that is positive where the Langevin sampler is more diverse.
  Measured more_diverse() const;
  bool holds() const { return verdict == Verdict::agrees; }
};
// Comparisons of diversity are judged together (Student's t, Holm's correction).
std::vector<Comparison> compare(const std::vector<Standing>& standings);

Results text_results(const TextResults& all, bool quick);

}  // namespace saltus::reproduce::text
