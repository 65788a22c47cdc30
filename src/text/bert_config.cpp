#include "text/bert_config.hpp"

#include "io/bytes/strict_json.hpp"
#include "io/models/json_fields.hpp"

namespace saltus {
namespace {

// A text field that, where it is given, must be `wanted`.
void expect(JsonFields& fields, const std::string& field, const std::string& wanted) {
  if (!fields.has(field)) return;
  const std::string value = fields.string(field);
  if (value != wanted) {
    fields.refuse(field, "is \"" + value + "\"; only \"" + wanted + "\" can be computed");
  }
}

int size(JsonFields& fields, const std::string& field, int most) {
  return static_cast<int>(fields.integer(fields.at(field), field, 1, most));
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
  config.vocabulary = size(fields, "vocab_size", 1 << 24);
  config.hidden = size(fields, "hidden_size", 1 << 16);
  config.layers = size(fields, "num_hidden_layers", 1 << 10);
  config.heads = size(fields, "num_attention_heads", config.hidden);
  config.intermediate = size(fields, "intermediate_size", 1 << 20);
  config.positions = size(fields, "max_position_embeddings", 1 << 20);
  config.types = size(fields, "type_vocab_size", 1 << 10);
  if (config.hidden % config.heads != 0) {
    fields.refuse("hidden_size", "is " + std::to_string(config.hidden) +
                                     ", which is no multiple of num_attention_heads, " +
                                     std::to_string(config.heads));
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

}  // namespace saltus
