#include "core/closest_name.hpp"

#include <algorithm>

namespace saltus {
namespace {

// Damerau and Levenshtein's distance, without changes of letters that were swapped.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string closest_name(std::string_view word, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 64;  // no name is as long, and a distance takes time
  constexpr std::size_t kFewLetters = 3;
  if (word.empty() || word.size() > kLongest) return "";
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const std::size_t d = distance(word, name);
    if (d < least) least = d, best = name;
  }
  if (!best.empty() || word.size() < kFewLetters) return best;
  const auto longer =
      std::ranges::find_if(names, [&](const std::string& name) { return name.starts_with(word); });
  return longer == names.end() ? "" : *longer;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string name = closest_name(word, names);
  return name.empty() ? "" : ". Did you mean " + name + "?";
}

}  // namespace saltus
