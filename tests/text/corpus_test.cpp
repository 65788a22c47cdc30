#include "saltus/text/corpus.hpp"

#include <gtest/gtest.h>

#include "io/packed.hpp"
#include "io/test_files.hpp"

namespace saltus {
namespace {

TEST(Corpus, WordsAreSeparatedByAnyBlanks) {
  EXPECT_EQ(split_words("  a\tb\u00A0c\u2028d\x1F"
                        "e \u00E9\r"),
            (Sentence{"a", "b", "c", "d", "e", "\u00E9"}));
  EXPECT_TRUE(split_words(" \t ").empty());
}

TEST(Corpus, References) {
  EXPECT_EQ(reference_words("`` Yes , '' \u00C9MILE said ''No @@UNKNOWN@@ .", Corpus::tbc),
            (Sentence{"\"", "yes", ",", "\"", "\u00E9mile", "said", "''no", "@@unknown@@", "."}));
  EXPECT_EQ(reference_words("The @@UNKNOWN@@ 5 @-@ `` year", Corpus::wiki103),
            (Sentence{"the", "[UNK]", "5", "@-@", "``", "year"}));
  EXPECT_EQ(reference_words("`` The @@UNKNOWN@@", Corpus::plain),
            (Sentence{"``", "the", "@@unknown@@"}));
}

TEST(Corpus, SentencesToMask) {
  EXPECT_EQ(plain_sentence("`` Yes , ''  he said .", Corpus::tbc), "Yes , he said .");
  EXPECT_EQ(plain_sentence("''thank you ''", Corpus::tbc), "thank you");
  EXPECT_EQ(plain_sentence(" The @@UNKNOWN@@ 5 @-@ year", Corpus::wiki103), "The [UNK] 5 - year");
  EXPECT_EQ(plain_sentence("`` a  @-@ b", Corpus::plain), "`` a @-@ b");
}

TEST(Corpus, FilesMayBePacked) {
  const TestFolder folder;
  fill_file(folder / "a.txt", "one\ntwo\r\n\nthree");
  EXPECT_EQ(read_lines(folder / "a.txt"), (std::vector<std::string>{"one", "two", "", "three"}));
  fill_file(folder / "a.txt.gz", gzipped("one\n"));
  EXPECT_EQ(read_lines(folder / "a.txt.gz"), (std::vector<std::string>{"one"}));
  EXPECT_THROW(read_lines(folder / "none"), FileError);
}

}  // namespace
}  // namespace saltus
