#include "text/unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "core/printable.hpp"
#include "text/unicode_tables.hpp"

namespace saltus {
namespace {

constexpr char32_t kReplacement = 0xFFFD, kSigma = 0x3A3, kFinalSigma = 0x3C2;
constexpr char32_t kDottedI = 0x130, kDotAbove = 0x307;
// Hangul syllables, The Unicode Standard, section 3.12.
constexpr char32_t kSyllables = 0xAC00, kSyllablesEnd = 0xD7A4;
constexpr char32_t kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr char32_t kVowelCount = 21, kTrailingCount = 28;

// Reads the numbers of a table.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : rest_(text) {}

  bool left() const { return !rest_.empty(); }
  char32_t next() {
    for (char32_t number = 0;;) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      const auto digit = static_cast<char32_t>(c - '#' - (c > '\\'));
      if (digit < unicode::kLastDigits) return number * unicode::kLastDigits + digit;
      number = number * unicode::kOtherDigits + (digit - unicode::kLastDigits);
    }
  }
  // A difference: 0, 1, 2, 3, ... stand for 0, -1, 1, -2, ...
  std::int32_t next_signed() {
    const auto number = static_cast<std::int32_t>(next());
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }

 private:
  std::string_view rest_;
};

// Each the first code point of a range times 256 plus its CharClass bits.
std::vector<std::uint32_t> class_boundaries() {
  std::vector<std::uint32_t> boundaries;
  char32_t first = 0;
  for (Numbers numbers(unicode::kClassRanges); numbers.left();) {
    const char32_t number = numbers.next(), count = std::size(unicode::kClasses);
    boundaries.push_back(first << 8 | unicode::kClasses[number % count]);
    first += number / count + 1;
  }
  return boundaries;
}

struct LowerRun {
  char32_t first, last, step;  // capitals first, first + step, ..., last
  std::int32_t distance;
};

std::vector<LowerRun> lower_runs() {
  std::vector<LowerRun> runs;
  char32_t before = 0;
  for (Numbers numbers(unicode::kLowerRuns); numbers.left();) {
    const char32_t number = numbers.next(), first = before + number / 2, step = 1 + number % 2;
    before = first + step * numbers.next();
    runs.push_back({first, before, step, numbers.next_signed()});
  }
  return runs;
}

struct Decomposition {
  char32_t from;
  std::u32string to;
};

std::vector<Decomposition> decompositions() {
  std::vector<Decomposition> all;
  char32_t from = 0;
  std::int32_t part = 0;
  for (Numbers numbers(unicode::kDecompositions); numbers.left();) {
    char32_t step = numbers.next();  // 0: more parts of the last character
    for (char32_t count = numbers.next(); count > 0; --count, step = step > 0) {
      if (step > 0) all.push_back({from += step, {}});
      all.back().to += static_cast<char32_t>(part += numbers.next_signed());
    }
  }
  return all;
}

std::uint8_t look_up_class(char32_t c) {
  static const std::vector<std::uint32_t> boundaries = class_boundaries();
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), (c << 8) | 0xFF);
  return static_cast<std::uint8_t>(*(after - 1) & 0xFF);
}

char32_t small_letter(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 32 : c;
  static const std::vector<LowerRun> runs = lower_runs();
  const auto run = std::ranges::lower_bound(runs, c, {}, &LowerRun::last);
  if (run == runs.end() || c < run->first || (c - run->first) % run->step != 0) return c;
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + run->distance);
}

// The next character from `at` in direction `by` that is not case-ignorable is cased.
bool cased_beside(const std::u32string& word, std::size_t at, std::size_t by) {
  for (std::size_t i = at + by; i < word.size(); i += by) {  // below 0 wraps around
    const std::uint8_t kind = char_class(word[i]);
    if (!(kind & kCaseIgnorable)) return kind & kCased;
  }
  return false;
}

void append_decomposed(char32_t c, std::u32string& out) {
  if (c >= kSyllables && c < kSyllablesEnd) {
    const char32_t index = c - kSyllables, block = kVowelCount * kTrailingCount;
    out += static_cast<char32_t>(kLeading + index / block);
    out += static_cast<char32_t>(kVowels + index % block / kTrailingCount);
    if (index % kTrailingCount) {
      out += static_cast<char32_t>(kTrailing + index % kTrailingCount);
    }
    return;
  }
  static const std::vector<Decomposition> table = decompositions();
  const auto found = std::ranges::lower_bound(table, c, {}, &Decomposition::from);
  if (found == table.end() || found->from != c) {
    out += c;
  } else {
    out += found->to;
  }
}

bool is_ascii(const std::u32string& word) {
  return std::all_of(word.begin(), word.end(), [](char32_t c) { return c < 0x80; });
}

}  // namespace

std::uint8_t char_class(char32_t c) {
  static const std::array<std::uint8_t, 128> ascii = [] {
    std::array<std::uint8_t, 128> table;
    for (char32_t i = 0; i < 128; ++i) table[i] = look_up_class(i);
    return table;
  }();
  return c < 128 ? ascii[c] : look_up_class(c);
}

bool is_cjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const Character c = character_at(text, at);
  at += c.bytes;
  return c.valid ? c.code : kReplacement;
}

void make_lower_case(std::u32string& word) {
  // Sigma first: whether it ends a word depends on the characters around it as they are written.
  for (std::size_t i = 0; i < word.size(); ++i) {
    const std::size_t back = static_cast<std::size_t>(-1);
    if (word[i] == kSigma && cased_beside(word, i, back) && !cased_beside(word, i, 1)) {
      word[i] = kFinalSigma;
    }
  }
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == kDottedI) word.insert(i + 1, 1, kDotAbove);
    word[i] = word[i] == kDottedI ? U'i' : small_letter(word[i]);
  }
}

void remove_accents(std::u32string& word) {
  if (is_ascii(word)) return;
  std::u32string out;
  for (const char32_t c : word) {
    if (!(char_class(c) & kMark)) append_decomposed(c, out);
  }
  word = std::move(out);
}

}  // namespace saltus
