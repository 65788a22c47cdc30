#include "saltus/text/bleu.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus {
namespace {

std::vector<Sentence> sentences(const std::vector<std::string>& lines) {
  return reference_sentences(lines, Corpus::plain);
}

const std::vector<Sentence> three =
    sentences({"the cat sat on the mat", "the cat sat on a mat today", "a dog sat on the mat"});

TEST(Bleu, OfSmallExamples) {
  EXPECT_NEAR(self_bleu(three).bleu, 0.6144144592, 1e-10);
  const BleuScore score =
      BleuReferences(std::span(three).subspan(1)).score(std::span(three).first(1));
  EXPECT_NEAR(score.bleu, 0.8633400214, 1e-10);
  EXPECT_EQ(score.length, 6);
  EXPECT_EQ(score.reference_length, 6);
  EXPECT_NEAR(unique_ngrams(three, 2), 0.3125, 1e-10);
  EXPECT_NEAR(unique_ngrams(three, 3), 0.3846153846, 1e-10);
  for (const int n : {2, 3}) {
    EXPECT_EQ(unique_ngrams(std::span(three).first(1), n, std::span(three).subspan(1)), 0);
  }
}

TEST(Bleu, BrevityAndTies) {
  // Lengths 4 and 8 are equally far from 6: the shorter counts, so there is no penalty.
  const auto references = sentences({"a b c d", "a b c d e f g h"});
  const auto six = sentences({"a b c d e f"}), three_words = sentences({"a b c"});
  EXPECT_EQ(BleuReferences(references).score(six).reference_length, 4);
  EXPECT_NEAR(BleuReferences(references).score(six).bleu, 1, 1e-15);
  const BleuScore seven = BleuReferences(references).score(sentences({"a b c d e f g"}));
  EXPECT_NEAR(seven.brevity_penalty, std::exp(1 - 8.0 / 7), 1e-15);
  // Too short for 4-grams: one of them, unmatched.
  const BleuScore shorter = BleuReferences(references).score(three_words);
  EXPECT_EQ(shorter.precision[2], 1);
  EXPECT_EQ(shorter.precision[3], 0);
  EXPECT_EQ(shorter.bleu, 0);
  // In a corpus it counts as one 4-gram more.
  const auto both = sentences({"a b c", "a b c d e"});
  EXPECT_NEAR(BleuReferences(references).score(both).precision[3], 2.0 / 3, 1e-15);
}

TEST(Bleu, WithoutWords) {
  const BleuReferences references(three);
  EXPECT_EQ(references.score({}).bleu, 0);
  EXPECT_EQ(references.score(sentences({""})).bleu, 0);
  EXPECT_THROW(BleuReferences({}), DataError);
  EXPECT_THROW(self_bleu(std::span(three).first(1)), DataError);
  EXPECT_EQ(unique_ngrams({}, 2), 0);
  EXPECT_THROW(unique_ngrams(three, 0), UsageError);
}

// Many random sentences of few words, so that counts above one, ties and repetitions are common:
// self-BLEU is BLEU of each against the others, one after the other.
TEST(Bleu, SelfIsEachAgainstTheOthers) {
  const Stream stream(5, 0, 0, Purpose::check);
  std::vector<Sentence> all;
  std::uint32_t at = 0;
  for (int s = 0; s < 40; ++s) {
    Sentence sentence;
    const int length = 4 + static_cast<int>(stream.uniform(at++) * 12);
    for (int i = 0; i < length; ++i) {
      sentence.push_back(std::string(1, static_cast<char>('a' + stream.uniform(at++) * 3)));
    }
    all.push_back(sentence);
  }
  all[7] = all[3];
  std::array<double, kBleuOrder> matches = {}, ngrams = {};
  double length = 0, closest = 0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    std::vector<Sentence> others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(s));
    const BleuScore score = BleuReferences(others).score(std::span(all).subspan(s, 1));
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      const double here = static_cast<double>(all[s].size() - n);
      matches[n] += score.precision[n] * here;
      ngrams[n] += here;
    }
    length += static_cast<double>(score.length);
    closest += static_cast<double>(score.reference_length);
  }
  const BleuScore self = self_bleu(all);
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    EXPECT_NEAR(self.precision[n], matches[n] / ngrams[n], 1e-12);
  }
  EXPECT_EQ(static_cast<double>(self.length), length);
  EXPECT_EQ(static_cast<double>(self.reference_length), closest);
}

// Published files: the figures, in percent, of the code that came with them.
struct Generated {
  std::string file;
  double tbc, wiki, half_of_both, all, self;
  std::array<double, 4> unique_wiki, unique_tbc, unique_self;
};
const std::vector<Generated> generated = {
    {"gpt-len40-topk100-temp1.000.txt",
     30.7492,
     10.8124,
     26.1074,
     32.3432,
     40.0229,
     {2.9612, 33.7113, 72.8554, 91.1151},
     {2.0033, 25.7427, 65.0369, 88.4167},
     {4.0504, 31.1317, 67.0132, 87.2809}},
    {"bert-base-uncased-len40-burnin250-topk100-temp1.000.txt",
     7.8973,
     8.6957,
     9.2224,
     12.1214,
     9.2720,
     {9.2933, 58.4164, 91.7577, 98.5101},
     {12.0160, 61.7452, 92.1127, 98.5217},
     {11.9147, 62.6411, 92.3577, 98.1768}},
    {"bert-large-uncased-len40-burnin250-topk100-temp1.000.txt",
     5.7377,
     8.5945,
     8.1660,
     10.6140,
     8.4072,
     {10.4661, 60.4875, 91.9484, 98.3805},
     {14.1463, 65.7604, 93.5444, 98.5723},
     {13.8076, 65.5850, 93.1261, 98.0619}}};

class TextData : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& name : {std::string("tbc.5k.txt"), std::string("wiki103.5k.txt"),
                             generated[0].file, generated[1].file, generated[2].file}) {
      const auto file = look_for_data_file("text", name, data_folder(""));
      if (!file) GTEST_SKIP() << "SALTUS_DATA has no " << name;
      lines_[name] = read_lines(*file);
    }
    tbc_ = reference_sentences(lines_["tbc.5k.txt"], Corpus::tbc);
    wiki_ = reference_sentences(lines_["wiki103.5k.txt"], Corpus::wiki103);
  }
  std::vector<Sentence> both(std::size_t of_each) const {
    std::vector<Sentence> out(tbc_.begin(), tbc_.begin() + static_cast<std::ptrdiff_t>(of_each));
    out.insert(out.end(), wiki_.begin(), wiki_.begin() + static_cast<std::ptrdiff_t>(of_each));
    return out;
  }
  std::vector<Sentence> hypotheses(const std::string& file) const {
    std::vector<Sentence> out;
    for (const std::string& line : lines_.at(file)) out.push_back(split_words(line));
    return out;
  }
  std::map<std::string, std::vector<std::string>> lines_;
  std::vector<Sentence> tbc_, wiki_;
};

constexpr double kDigits = 0.5001e-4;

TEST_F(TextData, BleuOfThePublishedFiles) {
  const BleuReferences tbc(tbc_), wiki(wiki_), half(both(2500)), all(both(5000));
  for (const Generated& g : generated) {
    const std::vector<Sentence> text = hypotheses(g.file);
    EXPECT_NEAR(100 * tbc.score(text).bleu, g.tbc, kDigits) << g.file;
    EXPECT_NEAR(100 * wiki.score(text).bleu, g.wiki, kDigits) << g.file;
    EXPECT_NEAR(100 * half.score(text).bleu, g.half_of_both, kDigits) << g.file;
    EXPECT_NEAR(100 * all.score(text).bleu, g.all, kDigits) << g.file;
    EXPECT_NEAR(100 * self_bleu(text).bleu, g.self, kDigits) << g.file;
  }
}

TEST_F(TextData, UniqueNgramsOfThePublishedFiles) {
  for (const Generated& g : generated) {
    const std::vector<Sentence> text = hypotheses(g.file);
    for (int n = 1; n <= 4; ++n) {
      const auto i = static_cast<std::size_t>(n - 1);
      EXPECT_NEAR(100 * unique_ngrams(text, n, wiki_), g.unique_wiki[i], kDigits) << g.file << n;
      EXPECT_NEAR(100 * unique_ngrams(text, n, tbc_), g.unique_tbc[i], kDigits) << g.file << n;
      EXPECT_NEAR(100 * unique_ngrams(text, n), g.unique_self[i], kDigits) << g.file << n;
    }
  }
}

}  // namespace
}  // namespace saltus
