// Table 3 of the paper.
#pragma once

#include <optional>
#include <string>

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

}  // namespace saltus::reproduce::text
