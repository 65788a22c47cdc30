#include "io/problems/evidence.hpp"

#include <fmt/format.h>

#include <set>

#include "io/bytes/gzip.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/domain.hpp"

namespace saltus {
namespace {

constexpr std::int64_t kMostCoordinates = 100'000'000, kMostWords = 3 * kMostCoordinates;

struct EvidenceWord {
  std::int64_t value;
  std::size_t line;
};

std::vector<EvidenceWord> words_of(ProblemText& text) {
  std::vector<EvidenceWord> words;
  while (text.next_word('c')) {
    if (static_cast<std::int64_t>(words.size()) == kMostWords) {
      text.refuse("it has more words than evidence can have");
    }
    words.push_back({text.whole(text.word(), "a word", 0, kMostCoordinates), text.line_number()});
  }
  return words;
}

// Where the pairs begin. The two forms have odd and even numbers of words.
std::size_t pairs_begin(const std::vector<EvidenceWord>& words, const ProblemText& text) {
  if (words.empty()) text.refuse_file("it is empty; expected the number of given variables");
  const auto count = static_cast<std::int64_t>(words.size());
  const std::int64_t first = words.front().value;
  if (count == 2 * first + 1) return 1;
  if (count % 2 == 1) {
    text.refuse_file(fmt::format(
        "it begins with {0}, so {1} words must follow, 'variable level' {0} times; it has {2}",
        first, 2 * first, count - 1));
  }
  if (first != 1) {
    text.refuse_file(fmt::format(
        "it holds {} samples of evidence; expected one: 'k i_1 v_1 ... i_k v_k'", first));
  }
  const std::int64_t second = words[1].value;
  if (count != 2 * second + 2) {
    text.refuse_file(
        fmt::format("its sample says {0} variables, so {1} words must follow, 'variable level' {0} "
                    "times; it has {2}",
                    second, 2 * second, count - 2));
  }
  return 2;
}

}  // namespace

std::vector<std::pair<int, int>> read_evidence(const std::filesystem::path& path) {
  const ByteSource source = range_bytes(open_maybe_packed(path), path.string());
  ProblemText text(source);
  const std::vector<EvidenceWord> words = words_of(text);
  std::vector<std::pair<int, int>> given;
  std::set<std::int64_t> seen;
  for (std::size_t k = pairs_begin(words, text); k < words.size(); k += 2) {
    const std::int64_t i = words[k].value, v = words[k + 1].value;
    text.set_line_number(words[k].line);
    if (i == kMostCoordinates || !seen.insert(i).second) {
      text.refuse(i == kMostCoordinates ? fmt::format("a variable is {}, which is too large", i)
                                        : fmt::format("variable {} is given twice", i));
    }
    text.set_line_number(words[k + 1].line);
    if (v >= Domain::kMaxLevels) {
      text.refuse(fmt::format("the level of variable {} is {}; levels end at {}", i, v,
                              Domain::kMaxLevels - 1));
    }
    given.emplace_back(static_cast<int>(i), static_cast<int>(v));
  }
  return given;
}

}  // namespace saltus
