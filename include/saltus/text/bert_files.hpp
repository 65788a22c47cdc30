// A masked language model in the layout of Hugging Face: config.json, vocab.txt and
// model.safetensors (or several of them, with model.safetensors.index.json).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "saltus/text/word_pieces.hpp"

namespace saltus {

struct BertConfig {
  int vocabulary, hidden, layers, heads, intermediate, positions, types;
  double layer_norm_epsilon = 1e-12;
  bool lower_case = true;
};

struct BertArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct BertFiles {
  std::string name;  // the folder's
  BertConfig config;
  std::shared_ptr<const WordPieces> pieces;
  // "bert.embeddings.word_embeddings.weight", ..., "cls.predictions.bias"; the read-out's weights
  // are the word embeddings where the file has none of its own.
  std::map<std::string, BertArray> arrays;
};

// Throws FileError when a file is missing, DataError, naming it, when it is damaged, is not a BERT
// with a masked-language head, or does not fit the others.
BertFiles load_bert(const std::filesystem::path& folder);
// The one that comes with the program.
BertFiles default_bert();

}  // namespace saltus
