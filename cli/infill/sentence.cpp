#include "cli/infill/sentence.hpp"

#include "core/printable.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus::cli {
namespace {

// A byte of a letter or a digit; letters beyond ASCII are made of such bytes alone.
bool of_a_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

struct Span {
  std::size_t begin, end;
};

// What lies between blanks, without the punctuation around it.
std::vector<Span> words_of(const std::string& text) {
  std::vector<Span> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    Span word{at, end};
    while (word.begin < word.end && !of_a_word(text[word.begin])) ++word.begin;
    while (word.end > word.begin && !of_a_word(text[word.end - 1])) --word.end;
    if (word.begin < word.end) words.push_back(word);
    at = end + 1;
  }
  return words;
}

}  // namespace

void blank_words(GappedText& sentence, double fraction, std::uint64_t seed, std::uint32_t number) {
  if (sentence.given.find(kMask) != std::string::npos) {
    throw DataError(sentence.where +
                    "the text has gaps ([MASK]) already: leave out --mask-fraction");
  }
  std::vector<Span> words = words_of(sentence.given);
  if (words.empty()) throw DataError(sentence.where + "there is no word that could be blanked");
  const auto n = static_cast<std::uint32_t>(words.size());
  const auto count =
      std::clamp(static_cast<std::uint32_t>(std::lround(fraction * n)), std::uint32_t{1}, n);
  // The first `count` places of a shuffle (Fisher & Yates).
  const Stream stream(seed, kAllChains, number, Purpose::scan);
  for (std::uint32_t k = 0; k < count; ++k) {
    std::swap(words[k], words[k + static_cast<std::uint32_t>(stream.uniform(k) * (n - k))]);
  }
  words.resize(count);
  std::sort(words.begin(), words.end(), [](Span a, Span b) { return a.begin > b.begin; });
  sentence.text = sentence.given;
  for (const Span& w : words) sentence.text.replace(w.begin, w.end - w.begin, kMask);
}

Marking marking_for_stdout() {
  const char* terminal = std::getenv("TERM");
  const bool plain =
      isatty(STDOUT_FILENO) != 1 || !terminal || std::string_view(terminal) == "dumb";
  return plain ? Marking{"*", "*"} : Marking{"\033[1;4m", "\033[0m"};
}

std::string filled(const std::string& text, const std::vector<std::string>& words,
                   const Marking& marking) {
  std::string result;
  std::size_t at = 0;
  for (const std::string& word : words) {
    const std::size_t gap = text.find(kMask, at);
    if (gap == std::string::npos) break;
    result += printable(text.substr(at, gap - at));
    const bool goes_on = word.starts_with("##") && word.size() > 2;
    if (goes_on) result.resize(result.find_last_not_of(" \t") + 1);
    result += marking.before + printable(goes_on ? word.substr(2) : word) + marking.after;
    at = gap + kMask.size();
  }
  return result + printable(text.substr(at));
}

}  // namespace saltus::cli
