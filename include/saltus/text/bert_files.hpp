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
  int vocabulary = 0, hidden = 0, layers = 0, heads = 0, intermediate = 0, positions = 0, types = 0;
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
  // All arrays of a BertForMaskedLM, and no others: "bert.embeddings.word_embeddings.weight", ...,
  // "cls.predictions.bias". The read-out's weights are the word embeddings, unless config.json says
  // that they are not tied: then there is "cls.predictions.decoder.weight".
  std::map<std::string, BertArray> arrays;
};

// Arrays may be named as in older files (LayerNorm.gamma and .beta, cls.predictions.decoder.bias),
// and are float32, float16 or bfloat16. Whether texts are lower-cased is taken from
// tokenizer_config.json, and without it from the vocabulary: not when that has capitals.
// Throws FileError when a file is missing, DataError, naming it, when it is damaged, is not a BERT
// with a masked-language head, or does not fit the others.
BertFiles load_bert(const std::filesystem::path& folder);
// The one that comes with the program, in the part that needs libtorch. Throws UsageError without
// that part.
BertFiles default_bert();

}  // namespace saltus
