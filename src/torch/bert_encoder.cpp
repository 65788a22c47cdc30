#include "torch/bert_encoder.hpp"

#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

}  // namespace

// The files' arrays by name, as tensors on the device.
class BertEncoder::Arrays {
 public:
  Arrays(const BertFiles& files, at::Device device) : files_(files), device_(device) {}

  bool has(const std::string& name) const { return files_.arrays.contains(name); }

  at::Tensor get(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const auto found = files_.arrays.find(name);
    if (found == files_.arrays.end()) {
      throw DataError("the model " + files_.name + " has no array " + name);
    }
    const BertArray& array = found->second;
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    if (array.shape != shape || static_cast<std::int64_t>(array.values.size()) != count) {
      throw DataError("the array " + name + " of the model " + files_.name + " is " +
                      shape_text(array.shape) + "; its configuration asks for " +
                      shape_text(shape));
    }
    // Nobody writes to it.
    return at::from_blob(const_cast<float*>(array.values.data()), shape, at::kFloat).to(device_);
  }

  Dense dense(const std::string& name, std::int64_t to, std::int64_t from) const {
    return {get(name + ".weight", {to, from}), get(name + ".bias", {to})};
  }
  Norm norm(const std::string& name) const {
    const std::int64_t size = files_.config.hidden;
    return {get(name + ".weight", {size}), get(name + ".bias", {size}),
            files_.config.layer_norm_epsilon};
  }

 private:
  const BertFiles& files_;
  at::Device device_;
};

at::Tensor BertEncoder::Dense::operator()(const at::Tensor& x) const {
  return at::addmm(bias, x, weight.t());
}

at::Tensor BertEncoder::Norm::operator()(const at::Tensor& x) const {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

BertEncoder::BertEncoder(const BertFiles& files, at::Device device) : heads_(files.config.heads) {
  const Arrays arrays(files, device);
  const BertConfig& config = files.config;
  const std::int64_t hidden = config.hidden, pieces = config.vocabulary;
  if (heads_ < 1 || hidden % heads_ != 0 || config.layers < 1) {
    throw DataError("the model " + files.name + " has " + std::to_string(config.layers) +
                    " layers and " + std::to_string(heads_) + " heads of a width of " +
                    std::to_string(hidden));
  }
  const std::string embeddings = "bert.embeddings.";
  words_ = arrays.get(embeddings + "word_embeddings.weight", {pieces, hidden});
  positions_ = arrays.get(embeddings + "position_embeddings.weight", {config.positions, hidden});
  type_ = arrays.get(embeddings + "token_type_embeddings.weight", {config.types, hidden})[0];
  embedded_ = arrays.norm(embeddings + "LayerNorm");
  for (int k = 0; k < config.layers; ++k) layers_.push_back(read_layer(arrays, config, k));
  const std::string head = "cls.predictions.";
  transform_ = arrays.dense(head + "transform.dense", hidden, hidden);
  transformed_ = arrays.norm(head + "transform.LayerNorm");
  const std::string own_weights = head + "decoder.weight";
  decoder_ = arrays.has(own_weights) ? arrays.get(own_weights, {pieces, hidden}) : words_;
  bias_ = arrays.get(head + "bias", {pieces});
}

BertEncoder::Layer BertEncoder::read_layer(const Arrays& arrays, const BertConfig& config,
                                           int number) const {
  const std::string name = "bert.encoder.layer." + std::to_string(number) + ".";
  const std::int64_t hidden = config.hidden, wide = config.intermediate;
  std::vector<at::Tensor> weights, biases;
  for (const char* part : {"query", "key", "value"}) {
    const Dense dense = arrays.dense(name + "attention.self." + part, hidden, hidden);
    weights.push_back(dense.weight);
    biases.push_back(dense.bias);
  }
  return {{at::cat(weights), at::cat(biases)},
          arrays.dense(name + "attention.output.dense", hidden, hidden),
          arrays.dense(name + "intermediate.dense", wide, hidden),
          arrays.dense(name + "output.dense", hidden, wide),
          arrays.norm(name + "attention.output.LayerNorm"),
          arrays.norm(name + "output.LayerNorm")};
}

at::Tensor BertEncoder::embed(const at::Tensor& ids) const {
  const at::Tensor words = words_.index_select(0, ids.reshape({-1}));
  return words.view({ids.size(0), ids.size(1), -1}) + (positions_.slice(0, 0, ids.size(1)) + type_);
}

// softmax(q k' / sqrt(size of a head)) v of every head: query (rows, places, hidden), key and value
// (rows, length, 2, hidden).
at::Tensor BertEncoder::attend(const at::Tensor& query, const at::Tensor& key_value) const {
  const std::int64_t rows = query.size(0), places = query.size(1), length = key_value.size(1),
                     hidden = query.size(2), size = hidden / heads_;
  const at::Tensor q = query.view({rows, places, heads_, size}).transpose(1, 2),
                   kv = key_value.view({rows, length, 2, heads_, size}).permute({2, 0, 3, 1, 4});
  const at::Tensor weight =
      at::softmax(at::matmul(q / std::sqrt(static_cast<double>(size)), kv[0].transpose(2, 3)), -1);
  return at::matmul(weight, kv[1]).transpose(1, 2).reshape({rows * places, hidden});
}

at::Tensor BertEncoder::finish(const Layer& layer, const at::Tensor& attended,
                               const at::Tensor& x) const {
  const at::Tensor y = layer.after_attention(layer.attended(attended) + x);
  return layer.after_dense(layer.narrow(at::gelu(layer.wide(y))) + y);
}

// A layer at all positions: x is (rows * length, hidden).
at::Tensor BertEncoder::whole(const Layer& layer, const at::Tensor& x, std::int64_t rows) const {
  const std::int64_t hidden = x.size(1);
  const at::Tensor all = layer.query_key_value(x).view({rows, -1, 3 * hidden});
  return finish(layer, attend(all.slice(2, 0, hidden), all.slice(2, hidden)), x);
}

// A layer at one position of each row, which looks at all of them.
at::Tensor BertEncoder::at_places(const Layer& layer, const at::Tensor& x,
                                  const at::Tensor& places) const {
  const std::int64_t rows = places.size(0), hidden = x.size(1);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return Dense{layer.query_key_value.weight.slice(0, begin, end),
                 layer.query_key_value.bias.slice(0, begin, end)};
  };
  const at::Tensor chosen = x.index_select(0, places);
  const at::Tensor query = part(0, hidden)(chosen).view({rows, 1, hidden}),
                   key_value = part(hidden, 3 * hidden)(x).view({rows, -1, 2 * hidden});
  return finish(layer, attend(query, key_value), chosen);
}

at::Tensor BertEncoder::encode(const at::Tensor& embedded, const at::Tensor& places) const {
  const std::int64_t rows = embedded.size(0), hidden = embedded.size(2);
  at::Tensor x = embedded_(embedded).view({-1, hidden});
  for (std::size_t k = 0; k + 1 < layers_.size(); ++k) x = whole(layers_[k], x, rows);
  return transformed_(at::gelu(transform_(at_places(layers_.back(), x, places))));
}

at::Tensor BertEncoder::read_out(const at::Tensor& encoded) const {
  return at::addmm(bias_, encoded, decoder_.t());
}

}  // namespace saltus
