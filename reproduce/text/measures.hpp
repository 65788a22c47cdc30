// How diverse generated sentences are, and how close to text that people wrote: measures of ours,
// and Table 3 of the paper.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/text/cell.hpp"
#include "saltus/text/bert_files.hpp"

namespace saltus::reproduce::text {

// In per cent. "Unique" n-grams: of all n-grams of the generated sentences, those that come once
// among them (self), or that the sentences of a corpus do not have.
struct Measures {
  double self_bleu = 0;
  double unique_self_2 = 0, unique_self_3 = 0;
  double unique_wt103_2 = 0, unique_wt103_3 = 0;
  double unique_tbc_2 = 0, unique_tbc_3 = 0;
  double bleu = 0;
};

struct Measure {
  const char *name, *column;  // "unique_self_2", "Self, 2"
  double Measures::*of;
};
inline constexpr Measure kMeasures[] = {{"self_bleu", "Self-BLEU", &Measures::self_bleu},
                                        {"unique_self_2", "Self, 2", &Measures::unique_self_2},
                                        {"unique_self_3", "Self, 3", &Measures::unique_self_3},
                                        {"unique_wt103_2", "WT103, 2", &Measures::unique_wt103_2},
                                        {"unique_wt103_3", "WT103, 3", &Measures::unique_wt103_3},
                                        {"unique_tbc_2", "TBC, 2", &Measures::unique_tbc_2},
                                        {"unique_tbc_3", "TBC, 3", &Measures::unique_tbc_3},
                                        {"bleu", "BLEU", &Measures::bleu}};

enum class PaperModel { base, large };  // BERT-base, BERT-large
std::optional<Measures> published(PaperModel model, const std::string& sampler);
// The paper's model that has these dimensions.
std::optional<PaperModel> paper_model(const BertConfig& config);

// The two corpora, as they are masked and as they are compared with.
struct Corpora {
  std::vector<Words> tbc, wt103;                      // for tasks
  std::vector<Words> tbc_reference, wt103_reference;  // for the measures; the same lines
};
Corpora load_corpora(const std::filesystem::path& folder);

// The sentences that the tasks were made of are left out of the references.
Measures measure(const Corpora& corpora, const std::vector<Task>& tasks,
                 std::vector<Words> generated);

}  // namespace saltus::reproduce::text
