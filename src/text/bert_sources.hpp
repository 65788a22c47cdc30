// What a BERT is made of, from files or from memory.
#pragma once

#include <optional>
#include <string>

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

}  // namespace saltus
