#include "text/basic_words.hpp"

#include "text/unicode.hpp"

namespace saltus {
namespace {

// Ends the word in `from`, which is split around its punctuation.
void take_word(std::u32string& from, bool lower_case, std::vector<std::string>& words) {
  if (lower_case) {
    make_lower_case(from);
    remove_accents(from);
  }
  bool go_on = false;  // the last word
  for (const char32_t c : from) {
    const bool alone = char_class(c) & kPunctuation;
    if (alone || !go_on) words.emplace_back();
    append_utf8(c, words.back());
    go_on = !alone;
  }
  from.clear();
}

}  // namespace

void append_basic_words(std::string_view text, bool lower_case, std::vector<std::string>& words) {
  std::u32string word;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    const std::uint8_t kind = char_class(c);
    if (kind & kRemoved) continue;
    if (kind & kBlank) {
      take_word(word, lower_case, words);
    } else if (is_cjk(c)) {
      take_word(word, lower_case, words);
      word += c;
      take_word(word, lower_case, words);
    } else {
      word += c;
    }
  }
  take_word(word, lower_case, words);
}

}  // namespace saltus
