// The sizes of a BERT and the arrays that they ask for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "saltus/text/bert_files.hpp"

namespace saltus {

struct BertSettings {
  BertConfig config;
  bool tied = true;  // the read-out's weights are the word embeddings
};

// config.json. Throws DataError naming `source` when it is not a BERT that we can compute.
BertSettings parse_bert_config(const std::string& text, const std::string& source);

// The names, as Hugging Face's BertForMaskedLM has them, and shapes of all arrays.
std::vector<std::pair<std::string, std::vector<std::int64_t>>> bert_arrays(
    const BertSettings& settings);

}  // namespace saltus
