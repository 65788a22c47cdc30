// A masked language model small enough to enumerate, and BERT written out in double precision from
// the paper's formulas.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/text/infill.hpp"

namespace saltus {

// Six words and two endings beside the special pieces; random weights, large enough for the gaps to
// matter to one another.
inline BertFiles toy_bert(int layers, std::uint64_t seed = 7) {
  BertFiles files;
  files.name = "toy";
  const std::vector<std::string> pieces = {"[PAD]",  "[UNK]", "[CLS]", "##s", "[SEP]",
                                           "[MASK]", "the",   "cat",   "dog", "##ed",
                                           "sees",   "likes", "a"};
  files.pieces = std::make_shared<const WordPieces>(pieces);
  BertConfig& config = files.config;
  config.vocabulary = static_cast<int>(pieces.size());
  config.hidden = 8, config.layers = layers, config.heads = 2, config.intermediate = 16;
  config.positions = 12, config.types = 2;
  std::uint32_t number = 0;
  const auto add = [&](const std::string& name, std::vector<std::int64_t> shape, double scale,
                       double centre = 0) {
    std::int64_t count = 1;
    for (const std::int64_t n : shape) count *= n;
    BertArray& array = files.arrays[name];
    array.shape = std::move(shape);
    const Stream stream(seed, number++, 0, Purpose::check);
    for (std::int64_t k = 0; k < count; ++k) {
      const double u = stream.uniform(static_cast<std::uint32_t>(k));
      array.values.push_back(static_cast<float>(centre + scale * (2 * u - 1)));
    }
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {8}, 0.3, 1);
    add(name + ".bias", {8}, 0.3);
  };
  const auto dense = [&](const std::string& name, std::int64_t to, std::int64_t from) {
    add(name + ".weight", {to, from}, 0.8);
    add(name + ".bias", {to}, 0.3);
  };
  add("bert.embeddings.word_embeddings.weight", {config.vocabulary, 8}, 0.7);
  add("bert.embeddings.position_embeddings.weight", {config.positions, 8}, 0.5);
  add("bert.embeddings.token_type_embeddings.weight", {2, 8}, 0.5);
  norm("bert.embeddings.LayerNorm");
  for (int k = 0; k < layers; ++k) {
    const std::string layer = "bert.encoder.layer." + std::to_string(k) + ".";
    for (const char* part : {"query", "key", "value"}) {
      dense(layer + "attention.self." + part, 8, 8);
    }
    dense(layer + "attention.output.dense", 8, 8);
    norm(layer + "attention.output.LayerNorm");
    dense(layer + "intermediate.dense", 16, 8);
    dense(layer + "output.dense", 8, 16);
    norm(layer + "output.LayerNorm");
  }
  dense("cls.predictions.transform.dense", 8, 8);
  norm("cls.predictions.transform.LayerNorm");
  add("cls.predictions.bias", {config.vocabulary}, 0.5);
  return files;
}

class PlainBert {
 public:
  using Vector = std::vector<double>;
  using Matrix = std::vector<Vector>;  // a row for each position

  explicit PlainBert(const BertFiles& files) : files_(files) {}

  Vector word(std::int32_t id) const {
    return row("bert.embeddings.word_embeddings.weight", static_cast<std::size_t>(id));
  }

  // log softmax over all pieces at a position, given a word embedding at every position.
  Vector log_softmax(Matrix x, std::size_t place) const {
    for (std::size_t l = 0; l < x.size(); ++l) {
      add(x[l], row("bert.embeddings.position_embeddings.weight", l));
      add(x[l], row("bert.embeddings.token_type_embeddings.weight", 0));
      x[l] = norm("bert.embeddings.LayerNorm", x[l]);
    }
    for (int k = 0; k < files_.config.layers; ++k) {
      x = layer("bert.encoder.layer." + std::to_string(k) + ".", x);
    }
    Vector t = gelu(dense("cls.predictions.transform.dense", x[place]));
    t = norm("cls.predictions.transform.LayerNorm", t);
    Vector logits;
    double sum = 0;
    for (int v = 0; v < files_.config.vocabulary; ++v) {
      const auto id = static_cast<std::size_t>(v);
      logits.push_back(dot(row(decoder(), id), t) + value("cls.predictions.bias", id));
      sum += std::exp(logits.back());
    }
    for (double& l : logits) l -= std::log(sum);
    return logits;
  }

 private:
  static double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
  }
  static void add(Vector& a, const Vector& b) {
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  }
  static Vector gelu(Vector v) {
    for (double& x : v) x = x * std::erfc(-x / std::sqrt(2.0)) / 2;
    return v;
  }

  double value(const std::string& name, std::size_t k) const {
    return double{files_.arrays.at(name).values[k]};
  }
  Vector row(const std::string& name, std::size_t r) const {
    const BertArray& array = files_.arrays.at(name);
    const auto length = array.shape.back();
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(r) * length;
    return {begin, begin + length};
  }
  std::string decoder() const {
    const std::string own = "cls.predictions.decoder.weight";
    return files_.arrays.contains(own) ? own : "bert.embeddings.word_embeddings.weight";
  }
  Vector dense(const std::string& name, const Vector& x) const {
    Vector y;
    const auto rows = static_cast<std::size_t>(files_.arrays.at(name + ".weight").shape[0]);
    for (std::size_t r = 0; r < rows; ++r) {
      y.push_back(dot(row(name + ".weight", r), x) + value(name + ".bias", r));
    }
    return y;
  }
  Vector norm(const std::string& name, const Vector& x) const {
    double mean = 0, variance = 0;
    const auto n = static_cast<double>(x.size());
    for (const double v : x) mean += v / n;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    Vector y;
    for (std::size_t k = 0; k < x.size(); ++k) {
      y.push_back((x[k] - mean) / std::sqrt(variance + files_.config.layer_norm_epsilon) *
                      value(name + ".weight", k) +
                  value(name + ".bias", k));
    }
    return y;
  }

  Matrix layer(const std::string& name, const Matrix& x) const {
    Matrix q, k, v, out;
    for (const Vector& at : x) {
      q.push_back(dense(name + "attention.self.query", at));
      k.push_back(dense(name + "attention.self.key", at));
      v.push_back(dense(name + "attention.self.value", at));
    }
    for (std::size_t l = 0; l < x.size(); ++l) {
      Vector y = dense(name + "attention.output.dense", attend(q[l], k, v));
      add(y, x[l]);
      y = norm(name + "attention.output.LayerNorm", y);
      Vector z = dense(name + "output.dense", gelu(dense(name + "intermediate.dense", y)));
      add(z, y);
      out.push_back(norm(name + "output.LayerNorm", z));
    }
    return out;
  }

  Vector attend(const Vector& q, const Matrix& k, const Matrix& v) const {
    Vector out(q.size(), 0.0);
    const std::size_t size = q.size() / static_cast<std::size_t>(files_.config.heads);
    for (std::size_t begin = 0; begin < q.size(); begin += size) {
      Vector weight(k.size(), 0.0);
      double sum = 0;
      for (std::size_t l = 0; l < k.size(); ++l) {
        for (std::size_t d = begin; d < begin + size; ++d) weight[l] += q[d] * k[l][d];
        weight[l] = std::exp(weight[l] / std::sqrt(static_cast<double>(size)));
        sum += weight[l];
      }
      for (std::size_t l = 0; l < k.size(); ++l) {
        for (std::size_t d = begin; d < begin + size; ++d) out[d] += weight[l] / sum * v[l][d];
      }
    }
    return out;
  }

  const BertFiles& files_;
};

}  // namespace saltus
