// What a BERT is made of, from files or from memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/models/safetensors.hpp"
#include "saltus/text/bert_files.hpp"

namespace saltus {

struct BertSources {
  std::string name;                      // of the model
  std::string config, vocabulary;        // the texts of config.json and vocab.txt
  std::optional<std::string> tokenizer;  // of tokenizer_config.json, where there is one
  TensorFiles tensors;
  std::string folder;  // for messages, "FOLDER/" say
};

// Throws DataError when they do not fit together.
BertFiles assemble_bert(const BertSources& sources);

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
