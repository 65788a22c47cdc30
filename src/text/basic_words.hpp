// The first half of BERT's tokenisation: a text as words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace saltus {

// Appends the words of `text`, as BasicTokenizer of the published BERT (tokenization.py) and of
// Hugging Face make them: control characters removed, words split at blanks and around CJK
// ideographs, lower-cased without accents if asked for, then split around punctuation. Bytes that
// are not UTF-8 are removed.
void append_basic_words(std::string_view text, bool lower_case, std::vector<std::string>& words);

}  // namespace saltus
