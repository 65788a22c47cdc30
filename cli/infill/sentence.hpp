// A sentence with gaps, as text: blanking words, putting words in, marking them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace saltus::cli {

inline constexpr std::string_view kMask = "[MASK]";

struct GappedText {
  std::string text;   // with [MASK]s
  std::string given;  // before words were blanked; else the same
  std::string where;  // in front of what is wrong with it: "sentences.txt, line 3: ", or nothing
};

// round(fraction n) of the n words that have a letter or a digit, and at least one, drawn at
// random; punctuation around them stays. Throws DataError when there is no word, or a gap already.
void blank_words(GappedText& sentence, double fraction, std::uint64_t seed, std::uint32_t number);

// Around words that were filled in.
struct Marking {
  std::string before, after;
};
Marking marking_for_stdout();  // *word*, or bold and underlined on a terminal

// The words in the gaps. A piece "##..." is joined to the word before it.
std::string filled(const std::string& text, const std::vector<std::string>& words,
                   const Marking& marking = {});

}  // namespace saltus::cli
