#include "saltus/text/bert_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/bytes/gzip.hpp"
#include "io/bytes/words.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/core/error.hpp"
#include "saltus/torch/module.hpp"
#include "text/bert_sources.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kLongestConfig = std::uint64_t{1} << 20;
constexpr std::uint64_t kLongestVocabulary = std::uint64_t{1} << 28;

bool has_capitals(const std::string& piece) {
  return piece.front() != '[' &&
         std::any_of(piece.begin(), piece.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// As tokenizer_config.json says; without it, a vocabulary that has capitals is meant to meet them.
bool is_lower_case(const BertSources& sources) {
  if (sources.tokenizer) {
    const std::string source = sources.folder + "tokenizer_config.json";
    const nlohmann::json json = parse_strictly(*sources.tokenizer, source);
    JsonFields fields(json, source);
    if (fields.has("do_lower_case")) return fields.boolean("do_lower_case");
  }
  const std::vector<std::string> pieces = lines_of(sources.vocabulary);
  return std::none_of(pieces.begin(), pieces.end(), [](const std::string& piece) {
    return !piece.empty() && has_capitals(piece);
  });
}

// Scales and shifts of LayerNorm were once called gamma and beta.
std::string modern_name(const std::string& name) {
  const std::size_t stem = name.rfind('.') + 1;
  if (name.ends_with("LayerNorm.gamma")) return name.substr(0, stem) + "weight";
  if (name.ends_with("LayerNorm.beta")) return name.substr(0, stem) + "bias";
  return name;
}

// Modern names and those in the files.
std::map<std::string, std::string> names_in(const TensorFiles& tensors, const std::string& folder) {
  std::map<std::string, std::string> names;
  for (const auto& [name, file] : tensors) {
    const auto [known, added] = names.emplace(modern_name(name), name);
    if (!added) {
      throw DataError(folder + "model.safetensors: the arrays '" + known->second + "' and '" +
                      name + "' are the same");
    }
  }
  if (!names.contains("cls.predictions.bias") && names.contains("cls.predictions.decoder.bias")) {
    names["cls.predictions.bias"] = names["cls.predictions.decoder.bias"];
  }
  return names;
}

BertArray read_bert_array(const Safetensors& file, const std::string& name,
                          const std::vector<std::int64_t>& shape) {
  const std::vector<std::uint64_t>& stored = file.tensor(name).shape;
  const std::vector<std::int64_t> given(stored.begin(), stored.end());
  if (given != shape) {
    throw DataError(fmt::format("{}: {} has shape ({}), but by config.json it is ({})", file.name(),
                                name, fmt::join(given, ", "), fmt::join(shape, ", ")));
  }
  BertArray array{shape, file.numbers<float>(name)};
  if (!std::all_of(array.values.begin(), array.values.end(),
                   [](float value) { return std::isfinite(value); })) {
    throw DataError(file.name() + ": " + name + " has an entry that is not finite");
  }
  return array;
}

// A text field that, where it is given, must be `wanted`.
void expect(JsonFields& fields, const std::string& field, const std::string& wanted) {
  if (!fields.has(field)) return;
  const std::string value = fields.string(field);
  if (value != wanted) {
    fields.refuse(field, "is \"" + value + "\"; only \"" + wanted + "\" can be computed");
  }
}

}  // namespace

BertSettings parse_bert_config(const std::string& text, const std::string& source) {
  const nlohmann::json json = parse_strictly(text, source);
  JsonFields fields(json, source);
  expect(fields, "model_type", "bert");  // the oldest published files do not have it
  fields.at("hidden_act");
  expect(fields, "hidden_act", "gelu");
  expect(fields, "position_embedding_type", "absolute");
  if (fields.has("is_decoder") && fields.boolean("is_decoder")) {
    fields.refuse("is_decoder", "is true; a decoder has no masked words");
  }
  BertSettings settings;
  BertConfig& config = settings.config;
  config.vocabulary = fields.size("vocab_size", 1, 1 << 24);
  config.hidden = fields.size("hidden_size", 1, 1 << 16);
  config.layers = fields.size("num_hidden_layers", 1, 1 << 10);
  config.heads = fields.size("num_attention_heads", 1, config.hidden);
  config.intermediate = fields.size("intermediate_size", 1, 1 << 20);
  config.positions = fields.size("max_position_embeddings", 1, 1 << 20);
  config.types = fields.size("type_vocab_size", 1, 1 << 10);
  if (config.hidden % config.heads != 0) {
    fields.refuse("hidden_size",
                  fmt::format("is {}, which is no multiple of num_attention_heads, {}",
                              config.hidden, config.heads));
  }
  if (fields.has("layer_norm_eps")) config.layer_norm_epsilon = fields.number("layer_norm_eps");
  if (config.layer_norm_epsilon <= 0) fields.refuse("layer_norm_eps", "must be above 0");
  if (fields.has("tie_word_embeddings")) settings.tied = fields.boolean("tie_word_embeddings");
  return settings;
}

std::vector<std::pair<std::string, std::vector<std::int64_t>>> bert_arrays(
    const BertSettings& settings) {
  const BertConfig& c = settings.config;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> out;
  const auto norm = [&](const std::string& name) {
    out.push_back({name + ".LayerNorm.weight", {c.hidden}});
    out.push_back({name + ".LayerNorm.bias", {c.hidden}});
  };
  const auto dense = [&](const std::string& name, int to, int from) {
    out.push_back({name + ".weight", {to, from}});
    out.push_back({name + ".bias", {to}});
  };
  const std::string embeddings = "bert.embeddings", head = "cls.predictions";
  out.push_back({embeddings + ".word_embeddings.weight", {c.vocabulary, c.hidden}});
  out.push_back({embeddings + ".position_embeddings.weight", {c.positions, c.hidden}});
  out.push_back({embeddings + ".token_type_embeddings.weight", {c.types, c.hidden}});
  norm(embeddings);
  for (int i = 0; i < c.layers; ++i) {
    const std::string layer = "bert.encoder.layer." + std::to_string(i);
    for (const char* part : {"query", "key", "value"}) {
      dense(layer + ".attention.self." + part, c.hidden, c.hidden);
    }
    dense(layer + ".attention.output.dense", c.hidden, c.hidden);
    norm(layer + ".attention.output");
    dense(layer + ".intermediate.dense", c.intermediate, c.hidden);
    dense(layer + ".output.dense", c.hidden, c.intermediate);
    norm(layer + ".output");
  }
  dense(head + ".transform.dense", c.hidden, c.hidden);
  norm(head + ".transform");
  out.push_back({head + ".bias", {c.vocabulary}});
  if (!settings.tied) out.push_back({head + ".decoder.weight", {c.vocabulary, c.hidden}});
  return out;
}

BertFiles assemble_bert(const BertSources& sources) {
  BertSettings settings = parse_bert_config(sources.config, sources.folder + "config.json");
  settings.config.lower_case = is_lower_case(sources);
  const std::string vocabulary = sources.folder + "vocab.txt";
  BertFiles bert{sources.name, settings.config, nullptr, {}};
  bert.pieces = std::make_shared<const WordPieces>(
      WordPieces::parse(sources.vocabulary, vocabulary, settings.config.lower_case));
  if (bert.pieces->size() != settings.config.vocabulary) {
    throw DataError(fmt::format("{}: it has {} pieces, but by config.json they are {}", vocabulary,
                                bert.pieces->size(), settings.config.vocabulary));
  }
  const std::map<std::string, std::string> names = names_in(sources.tensors, sources.folder);
  for (const auto& [name, shape] : bert_arrays(settings)) {
    const auto found = names.find(name);
    if (found == names.end()) {
      throw DataError(sources.folder + "model.safetensors: there is no array '" + name +
                      "', so it is not the BERT with a masked-language head of config.json");
    }
    bert.arrays[name] = read_bert_array(*sources.tensors.at(found->second), found->second, shape);
  }
  return bert;
}

BertFiles load_bert(const std::filesystem::path& folder) {
  const auto tokenizer = folder / "tokenizer_config.json";
  std::error_code ignored;
  BertSources sources;
  sources.folder = folder.string() + "/";
  sources.name = (folder / ".").lexically_normal().parent_path().filename().string();
  sources.config = read_text(folder / "config.json", kLongestConfig);
  sources.vocabulary = read_text(folder / "vocab.txt", kLongestVocabulary);
  if (std::filesystem::exists(tokenizer, ignored)) {
    sources.tokenizer = read_text(tokenizer, kLongestConfig);
  }
  sources.tensors = open_tensors(folder);
  return assemble_bert(sources);
}

BertFiles default_bert() {
  return torch_module("the language model that comes with saltus").default_bert();
}

}  // namespace saltus
