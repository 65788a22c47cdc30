#include "saltus/text/bert_files.hpp"

#include <gtest/gtest.h>

#include "io/tensor_writer.hpp"
#include "model_folders.hpp"
#include "text/bert_sources.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;

Json small_config() {
  return {{"model_type", "bert"},   {"hidden_act", "gelu"},         {"hidden_size", 4},
          {"num_hidden_layers", 2}, {"num_attention_heads", 2},     {"intermediate_size", 6},
          {"vocab_size", 6},        {"max_position_embeddings", 5}, {"type_vocab_size", 2},
          {"layer_norm_eps", 1e-11}};
}

// A BERT with different numbers everywhere, and what can be wrong with it.
struct SmallBert {
  Json config = small_config();
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n";
  std::vector<WrittenTensor> tensors;

  SmallBert() {
    float next = 0;
    for (const auto& [name, shape] : bert_arrays(parse_bert_config(config.dump(), "c"))) {
      std::int64_t count = 1;
      for (const std::int64_t n : shape) count *= n;
      std::vector<float> values(static_cast<std::size_t>(count));
      for (float& value : values) value = next++;
      tensors.push_back({name, "F32", shape, bytes_of(values)});
    }
  }
  WrittenTensor& tensor(const std::string& name) {
    return *std::find_if(tensors.begin(), tensors.end(),
                         [&](const auto& t) { return t.name == name; });
  }
  void erase(const std::string& name) {
    std::erase_if(tensors, [&](const auto& t) { return t.name == name; });
  }
  BertFiles load(const TestFolder& folder) const {
    fill_file(folder / "config.json", config.dump());
    fill_file(folder / "vocab.txt", vocabulary);
    fill_file(folder / "model.safetensors", safetensors(tensors));
    return load_bert((folder / "config.json").parent_path());
  }
};

TEST(BertFiles, AreRead) {
  const TestFolder folder;
  const SmallBert small;
  const BertFiles bert = small.load(folder);
  EXPECT_EQ(bert.name, (folder / "x").parent_path().filename().string());
  EXPECT_EQ(bert.config.vocabulary, 6);
  EXPECT_EQ(bert.config.hidden, 4);
  EXPECT_EQ(bert.config.layers, 2);
  EXPECT_EQ(bert.config.heads, 2);
  EXPECT_EQ(bert.config.intermediate, 6);
  EXPECT_EQ(bert.config.positions, 5);
  EXPECT_EQ(bert.config.types, 2);
  EXPECT_EQ(bert.config.layer_norm_epsilon, 1e-11);
  EXPECT_TRUE(bert.config.lower_case);
  EXPECT_EQ(bert.pieces->size(), 6);
  EXPECT_EQ(bert.arrays.size(), 5u + 2 * 16 + 5);
  float next = 0;
  for (const WrittenTensor& tensor : small.tensors) {
    const BertArray& array = bert.arrays.at(tensor.name);
    EXPECT_EQ(array.shape, tensor.shape);
    for (const float value : array.values) ASSERT_EQ(value, next++) << tensor.name;
  }
}

TEST(BertFiles, NamesOfOlderFiles) {
  const TestFolder folder;
  SmallBert small;
  const BertFiles bert = small.load(folder);
  for (WrittenTensor& t : small.tensors) {
    const std::size_t norm = t.name.find("LayerNorm.");
    if (norm == std::string::npos) continue;
    t.name = t.name.substr(0, norm) +
             (t.name.ends_with("weight") ? "LayerNorm.gamma" : "LayerNorm.beta");
  }
  small.tensor("cls.predictions.bias").name = "cls.predictions.decoder.bias";
  small.tensors.push_back({"bert.pooler.dense.bias", "F32", {1}, bytes_of<float>({1})});
  small.tensors.push_back({"cls.seq_relationship.weight", "F32", {1}, bytes_of<float>({NAN})});
  small.tensors.push_back({"bert.embeddings.position_ids", "I64", {1}, std::string(8, '\1')});
  small.tensors.push_back({"cls.predictions.decoder.weight", "F32", {1}, bytes_of<float>({1})});
  const BertFiles older = small.load(folder);
  EXPECT_EQ(older.arrays.size(), bert.arrays.size());
  for (const auto& [name, array] : bert.arrays) {
    EXPECT_EQ(older.arrays.at(name).values, array.values) << name;
  }
  // With both, the head's own bias counts.
  small.tensors.push_back({"cls.predictions.bias", "F32", {6}, bytes_of(std::vector<float>(6, 9))});
  EXPECT_EQ(small.load(folder).arrays.at("cls.predictions.bias").values, std::vector<float>(6, 9));
  const WrittenTensor twice = {
      "bert.embeddings.LayerNorm.weight", "F32", {4}, std::string(16, '\0')};
  small.tensors.push_back(twice);
  EXPECT_TRUE(contains(data_error([&] { small.load(folder); }), "are the same"));
}

TEST(BertFiles, AReadOutOfItsOwn) {
  const TestFolder folder;
  SmallBert small;
  small.config["tie_word_embeddings"] = false;
  EXPECT_TRUE(
      contains(data_error([&] { small.load(folder); }), "'cls.predictions.decoder.weight'"));
  small.tensors.push_back(
      {"cls.predictions.decoder.weight", "F32", {6, 4}, bytes_of(std::vector<float>(24, 3))});
  EXPECT_EQ(small.load(folder).arrays.at("cls.predictions.decoder.weight").values[5], 3);
}

TEST(BertFiles, WhetherCapitalsCount) {
  const TestFolder folder;
  SmallBert small;
  small.vocabulary.replace(small.vocabulary.rfind('a'), 1, "A");
  EXPECT_FALSE(small.load(folder).config.lower_case);
  EXPECT_EQ(small.load(folder).pieces->encode("A a"), (std::vector<std::int32_t>{5, 1}));
  fill_file(folder / "tokenizer_config.json", R"({"do_lower_case": true, "model_max_length": 5})");
  EXPECT_TRUE(small.load(folder).config.lower_case);
  fill_file(folder / "tokenizer_config.json", R"({"do_lower_case": "no"})");
  EXPECT_THROW(small.load(folder), DataError);
}

TEST(BertFiles, ConfigurationsThatAreRefused) {
  const TestFolder folder;
  struct Case {
    std::string field;
    Json value;
    std::string words;
  };
  const std::vector<Case> cases = {
      {"model_type", "roberta", "model_type is \"roberta\""},
      {"hidden_act", "gelu_new", "hidden_act is \"gelu_new\""},
      {"hidden_act", 3, "hidden_act is 3"},
      {"position_embedding_type", "relative_key", "position_embedding_type"},
      {"is_decoder", true, "is_decoder"},
      {"num_attention_heads", 3, "no multiple of num_attention_heads, 3"},
      {"num_attention_heads", 0, "num_attention_heads is 0"},
      {"num_hidden_layers", 100000, "num_hidden_layers is 100000"},
      {"num_hidden_layers", 3, "no array 'bert.encoder.layer.2.attention.self.query.weight'"},
      {"hidden_size", -4, "hidden_size is -4"},
      {"intermediate_size", 7, "has shape (6, 4), but by config.json it is (7, 4)"},
      {"max_position_embeddings", 4, "position_embeddings.weight has shape (5, 4)"},
      {"vocab_size", 7, "vocab.txt: it has 6 pieces, but by config.json they are 7"},
      {"layer_norm_eps", 0, "layer_norm_eps must be above 0"}};
  for (const Case& c : cases) {
    SmallBert small;
    small.config[c.field] = c.value;
    EXPECT_TRUE(contains(data_error([&] { small.load(folder); }), c.words)) << c.field;
  }
  SmallBert small;
  small.config.erase("vocab_size");
  EXPECT_TRUE(contains(data_error([&] { small.load(folder); }), "'vocab_size' is missing"));
}

TEST(BertFiles, WeightsThatAreRefused) {
  const TestFolder folder;
  const auto refused = [&](const std::function<void(SmallBert&)>& change,
                           const std::string& words) {
    SmallBert small;
    change(small);
    EXPECT_TRUE(contains(data_error([&] { small.load(folder); }), words));
  };
  refused([](SmallBert& s) { s.erase("cls.predictions.bias"); }, "masked-language head");
  refused([](SmallBert& s) { s.vocabulary += "b\n"; }, "it has 7 pieces");
  refused([](SmallBert& s) { s.vocabulary += "b\n", s.config["vocab_size"] = 7; },
          "word_embeddings.weight has shape (6, 4), but by config.json it is (7, 4)");
  refused(
      [](SmallBert& s) {
        s.tensor("cls.predictions.bias").numbers = bytes_of<float>({1, 2, 3, 4, INFINITY, 6});
      },
      "cls.predictions.bias has an entry that is not finite");
  refused([](SmallBert& s) { s.tensor("cls.predictions.bias").type = "I32"; }, "of type I32");
  SmallBert().load(folder);
  std::filesystem::remove(folder / "vocab.txt");
  EXPECT_THROW(load_bert((folder / "x").parent_path()), FileError);
  SmallBert().load(folder);
  std::filesystem::remove(folder / "model.safetensors");
  EXPECT_THROW(load_bert((folder / "x").parent_path()), FileError);
}

class PublishedBert : public testing::TestWithParam<std::string> {};

TEST_P(PublishedBert, IsRead) {
  const std::filesystem::path folder = model_folder(GetParam());
  if (folder.empty()) GTEST_SKIP() << "SALTUS_MODELS has no " << GetParam();
  const BertFiles bert = load_bert(folder);
  EXPECT_EQ(bert.name, GetParam());
  std::size_t count = 0;
  for (const auto& [name, array] : bert.arrays) count += array.values.size();
  const bool tiny = GetParam() == "mlm-tiny";
  EXPECT_EQ(bert.arrays.size(), tiny ? 74u : 106u);
  EXPECT_EQ(count, tiny ? 3423296u : 22744506u);
  EXPECT_EQ(bert.config.layers, tiny ? 4 : 6);
  EXPECT_TRUE(bert.config.lower_case);
}

INSTANTIATE_TEST_SUITE_P(Both, PublishedBert, testing::Values("mlm-tiny", "mlm-mini"),
                         [](const auto& param) {
                           return param.param == "mlm-tiny" ? "Tiny" : "Mini";
                         });

}  // namespace
}  // namespace saltus
