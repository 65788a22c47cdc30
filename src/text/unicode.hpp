// Code points of UTF-8 texts: their classes, small letters and letters without accents, as the
// Unicode data of unicode_tables.hpp has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace saltus {

enum CharClass : std::uint8_t {
  kRemoved = 1,      // control, format, private or unassigned (categories C*), and U+FFFD
  kBlank = 2,        // categories Z*, tab and line ends
  kPunctuation = 4,  // categories P*, and all of ASCII that is not alphanumeric
  kMark = 8,         // nonspacing marks (Mn): accents, once decomposed
  kCased = 16,
  kCaseIgnorable = 32,  // and not cased
};
std::uint8_t char_class(char32_t c);
bool is_cjk(char32_t c);  // the ideographs that BERT takes for words of their own

// The code point at `at`, which moves behind it; U+FFFD for each byte that is not UTF-8.
char32_t next_code_point(std::string_view text, std::size_t& at);

// Small letters, in place: as Unicode's full mapping, a sigma at the end of a word included.
void make_lower_case(std::u32string& word);
// `word` decomposed canonically (NFD), without the nonspacing marks. Marks that are not nonspacing
// keep their order.
void remove_accents(std::u32string& word);

}  // namespace saltus
