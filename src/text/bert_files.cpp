#include "saltus/text/bert_files.hpp"

#include <algorithm>
#include <cmath>

#include "io/bytes/strict_json.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/core/error.hpp"
#include "text/bert_config.hpp"
#include "text/bert_sources.hpp"
#include "text/text_file.hpp"

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

std::string shown(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "(" + text + ")";
}

BertArray read_bert_array(const Safetensors& file, const std::string& name,
                          const std::vector<std::int64_t>& shape) {
  const std::vector<std::uint64_t>& stored = file.tensor(name).shape;
  const std::vector<std::int64_t> given(stored.begin(), stored.end());
  if (given != shape) {
    throw DataError(file.name() + ": " + name + " has shape " + shown(given) + ", but by " +
                    "config.json it is " + shown(shape));
  }
  BertArray array{shape, file.floats(name)};
  if (!std::all_of(array.values.begin(), array.values.end(),
                   [](float value) { return std::isfinite(value); })) {
    throw DataError(file.name() + ": " + name + " has an entry that is not finite");
  }
  return array;
}

}  // namespace

BertFiles assemble_bert(const BertSources& sources) {
  BertSettings settings = parse_bert_config(sources.config, sources.folder + "config.json");
  settings.config.lower_case = is_lower_case(sources);
  const std::string vocabulary = sources.folder + "vocab.txt";
  BertFiles bert{sources.name, settings.config, nullptr, {}};
  bert.pieces = std::make_shared<const WordPieces>(
      WordPieces::parse(sources.vocabulary, vocabulary, settings.config.lower_case));
  if (bert.pieces->size() != settings.config.vocabulary) {
    throw DataError(vocabulary + ": it has " + std::to_string(bert.pieces->size()) +
                    " pieces, but by config.json they are " +
                    std::to_string(settings.config.vocabulary));
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

}  // namespace saltus
