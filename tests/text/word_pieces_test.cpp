#include "saltus/text/word_pieces.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "model_folders.hpp"
#include "reproduce/real_data.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus {
namespace {

using Words = std::vector<std::string>;

WordPieces small(bool lower_case = true) {
  return WordPieces({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]", "un", "##aff",
                     "##able", "##a", "want", "##ed", ".", "a", "#", "\xC3\xA9", "##\xC3\xA9"},
                    lower_case);
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(WordPieces, SplitsAsThePublishedTokeniser) {
  const WordPieces pieces = small();
  const std::vector<std::pair<std::string, Words>> cases = {
      {"Unaffable, wanted!", {"unaffable", ",", "wanted", "!"}},
      {" \tHello\r\n  world ", {"hello", "world"}},
      {"na\u00EFve caf\u00E9\u2014\u0141\u00D3D\u0179", {"naive", "cafe", "\u2014", "\u0142odz"}},
      {"e\u0301", {"e"}},   // a combining accent
      {"\u0130I", {"ii"}},  // Turkish
      {"\u039F\u0394\u039F\u03A3 \u03A3\u0391\u03A3",
       {"\u03BF\u03B4\u03BF\u03C2", "\u03C3\u03B1\u03C2"}},  // sigma at the end of a word
      {"\u03A3 \u0391\u03A3. \u0391\u03A3.\u0391",
       {"\u03C3", "\u03B1\u03C2", ".", "\u03B1\u03C3", ".", "\u03B1"}},
      {"\u4E2D\u6587x", {"\u4E2D", "\u6587", "x"}},  // CJK
      {"\uD55C", {"\u1112\u1161\u11AB"}},            // Hangul, decomposed
      {"a\u00ADb\u200Bc\x01"
       "d",
       {"abcd"}},                                        // format and control characters
      {"a\u2028b\u3000c\u00A0d", {"a", "b", "c", "d"}},  // blanks
      {"$5^_`~ \u20AC5\u00BF", {"$", "5", "^", "_", "`", "~", "\u20AC5", "\u00BF"}},
      {std::string("a\0b\xFF"
                   "c\xC3",
                   6),
       {"abc"}},  // not UTF-8
      {"x[MASK]y [mask] [MASK][MASK].",
       {"x", "[MASK]", "y", "[", "mask", "]", "[MASK]", "[MASK]", "."}},
      {"[[UNK]] [unused1]", {"[", "[UNK]", "]", "[", "unused1", "]"}},
      {"", {}}};
  for (const auto& [text, words] : cases) EXPECT_EQ(pieces.words(text), words) << text;
  const WordPieces cased = small(false);
  EXPECT_EQ(cased.words("Caf\u00E9 \u039F\u03A3"), (Words{"Caf\u00E9", "\u039F\u03A3"}));
}

TEST(WordPieces, AreTheLongestFromTheLeft) {
  const WordPieces pieces = small();
  const auto ids = [&](const std::string& text) { return pieces.encode(text); };
  EXPECT_EQ(ids("unaffable wanted."), (std::vector<std::int32_t>{6, 7, 8, 10, 11, 12}));
  EXPECT_EQ(ids("una unb a"), (std::vector<std::int32_t>{6, 9, 1, 13}));  // unb: whole word unknown
  EXPECT_EQ(ids("[CLS]a[MASK][SEP]"), (std::vector<std::int32_t>{2, 13, 4, 3}));
  EXPECT_EQ(ids("## un"), (std::vector<std::int32_t>{14, 14, 6}));
  EXPECT_TRUE(ids(" \t").empty());
  EXPECT_EQ(ids("a" + std::string(99, 'a')).size(), 100u);
  EXPECT_EQ(ids("a" + std::string(100, 'a')), std::vector<std::int32_t>{1});
  // The limit is in characters, not bytes.
  const auto accents = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "\u00E9";
    return small(false).encode(text);
  };
  EXPECT_EQ(accents(100).size(), 100u);
  EXPECT_EQ(accents(101), std::vector<std::int32_t>{1});
}

TEST(WordPieces, KindsAndDecoding) {
  const WordPieces pieces = small();
  EXPECT_TRUE(pieces.special(pieces.mask()));
  EXPECT_TRUE(pieces.special(pieces.id("[unused1]")));
  EXPECT_FALSE(pieces.special(pieces.id("un")));
  EXPECT_TRUE(pieces.continues(pieces.id("##a")));
  EXPECT_FALSE(pieces.continues(pieces.id("#")));
  EXPECT_EQ(pieces.id("missing"), -1);
  EXPECT_EQ(pieces.decode(std::vector<std::int32_t>{2, 6, 7, 8, 4, 12, 3}),
            "[CLS] unaffable [MASK] . [SEP]");
  EXPECT_EQ(pieces.decode(std::vector<std::int32_t>{8, 9}), "##ablea");  // nothing to go on
  EXPECT_EQ(pieces.decode({}), "");
}

TEST(WordPieces, VocabulariesThatAreRefused) {
  const std::string good = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na";
  EXPECT_EQ(WordPieces::parse(good, "v").size(), 6);
  EXPECT_EQ(WordPieces::parse(good + "\r\n", "v").piece(5), "a");
  EXPECT_TRUE(contains(data_error([&] { WordPieces::parse(good + "\nb\na\n", "v.txt"); }),
                       "v.txt: the vocabulary has the piece 'a' twice, on the lines 6 and 8"));
  EXPECT_TRUE(contains(data_error([&] { WordPieces::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\n", "v"); }),
                       "no piece [MASK]"));
  EXPECT_THROW(WordPieces::load("nowhere/vocab.txt"), FileError);
}

class Model : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (model_folder(GetParam()).empty()) GTEST_SKIP() << "SALTUS_MODELS has no " << GetParam();
  }
  WordPieces pieces() const { return WordPieces::load(model_folder(GetParam()) / "vocab.txt"); }
};

TEST_P(Model, EncodesAsItWasTrained) {
  const WordPieces pieces = this->pieces();
  for (const auto& c : golden_cases(GetParam())) {
    std::vector<std::int32_t> ids = pieces.encode(c["text"].get<std::string>());
    ids.insert(ids.begin(), pieces.begin());
    ids.push_back(pieces.end());
    EXPECT_EQ(ids, c["input_ids"].get<std::vector<std::int32_t>>()) << c["text"];
    for (std::size_t i = 0; i < c["fill"].size(); ++i) {
      EXPECT_EQ(pieces.id(c["fill"][i].get<std::string>()), c["fill_ids"][i].get<std::int32_t>());
    }
  }
}

// Ids of an independent implementation (Python's, of the published tokeniser), as a hash.
struct Expected {
  std::uint64_t hash;
  std::size_t ids;
  int unknown;  // sentences
};
const std::map<std::string, Expected> expected = {{"mlm-tiny", {0xf246c94d71362c9, 250157, 12}},
                                                  {"mlm-mini", {0x69d6bab02251ed21, 210828, 0}}};

TEST_P(Model, EncodesAndRestoresTheCorpora) {
  const WordPieces pieces = this->pieces();
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  std::size_t count = 0;
  int unknown = 0;
  std::chrono::duration<double> seconds(0);
  for (const char* name : {"tbc.5k.txt", "wiki103.5k.txt"}) {
    const auto file = look_for_data_file("text", name, data_folder(""));
    if (!file) GTEST_SKIP() << "SALTUS_DATA has no " << name;
    for (const std::string& line : read_lines(*file)) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<std::int32_t> ids = pieces.encode(line);
      seconds += std::chrono::steady_clock::now() - start;
      for (const std::int32_t id : ids)
        hash = (hash ^ static_cast<std::uint32_t>(id)) * 0x100000001b3;
      hash = (hash ^ 0xFFFFFFFF) * 0x100000001b3;
      count += ids.size();
      if (std::find(ids.begin(), ids.end(), pieces.unknown()) != ids.end()) {
        ++unknown;
      } else {
        ASSERT_EQ(pieces.decode(ids), joined(pieces.words(line)));
      }
    }
  }
  EXPECT_EQ(hash, expected.at(GetParam()).hash);
  EXPECT_EQ(count, expected.at(GetParam()).ids);
  EXPECT_EQ(unknown, expected.at(GetParam()).unknown);
  RecordProperty("seconds", std::to_string(seconds.count()));
}

INSTANTIATE_TEST_SUITE_P(Both, Model, testing::Values("mlm-tiny", "mlm-mini"),
                         [](const auto& param) {
                           return param.param == "mlm-tiny" ? std::string("Tiny")
                                                            : std::string("Mini");
                         });

}  // namespace
}  // namespace saltus
