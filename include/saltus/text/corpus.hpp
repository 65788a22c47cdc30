// Sentences of the corpora that generated text is compared with, one a line, words separated by
// blanks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/text/bleu.hpp"

namespace saltus {

// plain: a text without marks of its own. tbc: the Toronto BookCorpus, whose quotation marks are
// `` and ''. wiki103: WikiText-103, with @@UNKNOWN@@ for rare words and @-@ for hyphens.
enum class Corpus { plain, tbc, wiki103 };

// Lines without their ends. The file may be packed by gzip. Throws FileError and DataError.
std::vector<std::string> read_lines(const std::filesystem::path& file);

// The words of a line, as they are.
Sentence split_words(std::string_view line);

// As a reference of BLEU and n-grams (Wang & Cho, "BERT has a mouth, and it must speak", 2019):
// words lower-cased; of tbc, `` and '' become "; of wiki103, @@UNKNOWN@@ becomes [UNK].
Sentence reference_words(std::string_view line, Corpus corpus);
std::vector<Sentence> reference_sentences(const std::vector<std::string>& lines, Corpus corpus);

// As a sentence whose words are to be masked, single blanks between words: of tbc, `` and '' are
// left out; of wiki103, @@UNKNOWN@@ becomes [UNK] and @-@ a hyphen.
std::string plain_sentence(std::string_view line, Corpus corpus);

}  // namespace saltus
