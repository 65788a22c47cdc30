// The encoder of BERT with its masked-language head: Devlin, Chang, Lee & Toutanova, "BERT", NAACL
// 2019. Without dropout; parameters take no part in gradients.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "saltus/text/bert_files.hpp"

namespace saltus {

class BertEncoder {
 public:
  // On the CPU tensors are views of the files' arrays where they can be: `files` must then outlive
  // this and stay where it is. Throws DataError when an array is missing or has another shape than
  // the configuration says.
  BertEncoder(const BertFiles& files, at::Device device);

  at::Device device() const { return words_.device(); }
  const at::Tensor& words() const { return words_; }  // (pieces, hidden)

  // Word + position + type embeddings (rows, length, hidden) of ids (rows, length): what the
  // encoder begins with, and what gradients are taken by.
  at::Tensor embed(const at::Tensor& ids) const;

  // What the read-out multiplies, (rows, hidden), at one position of each row: place[r] is that of
  // row r, counted through all rows (r * length + position). The last layer is computed there only.
  at::Tensor encode(const at::Tensor& embedded, const at::Tensor& places) const;

  // Logits of all pieces: encoded decoder() + bias.
  at::Tensor read_out(const at::Tensor& encoded) const;
  const at::Tensor& decoder() const { return decoder_; }  // (pieces, hidden)

 private:
  struct Dense {
    at::Tensor weight, bias;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Norm {
    at::Tensor weight, bias;
    double epsilon = 0;
    at::Tensor operator()(const at::Tensor& x) const;
  };
  struct Layer {
    Dense query_key_value, attended, wide, narrow;  // the first three stacked
    Norm after_attention, after_dense;
  };
  class Arrays;

  Layer read_layer(const Arrays& arrays, const BertConfig& config, int number) const;
  at::Tensor attend(const at::Tensor& query, const at::Tensor& key_value) const;
  at::Tensor finish(const Layer& layer, const at::Tensor& attended, const at::Tensor& x) const;
  at::Tensor whole(const Layer& layer, const at::Tensor& x, std::int64_t rows) const;
  at::Tensor at_places(const Layer& layer, const at::Tensor& x, const at::Tensor& places) const;

  std::int64_t heads_;
  at::Tensor words_, positions_, type_, decoder_, bias_;
  Norm embedded_;
  std::vector<Layer> layers_;
  Dense transform_;
  Norm transformed_;
};

}  // namespace saltus
