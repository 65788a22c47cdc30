#include "reproduce/text/task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus::reproduce::text {
namespace {

// `count` of 0, 1, ..., n - 1 in random order: the beginning of a shuffle (Fisher & Yates).
std::vector<std::size_t> some_of(std::size_t n, std::size_t count, const Stream& stream) {
  std::vector<std::size_t> list(n);
  std::iota(list.begin(), list.end(), std::size_t{0});
  for (std::size_t k = 0; k < count; ++k) {
    const double u = stream.uniform(static_cast<std::uint32_t>(k));
    std::swap(list[k], list[k + static_cast<std::size_t>(u * static_cast<double>(n - k))]);
  }
  list.resize(count);
  return list;
}

std::uint32_t number_of(const std::string& corpus) {
  std::uint32_t sum = 2166136261u;  // FNV-1a
  for (const char c : corpus) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
  return sum;
}

}  // namespace

std::string Task::masked() const {
  return fmt::format("{}", fmt::join(filled(Words(gaps.size(), "[MASK]")), " "));
}

Words Task::filled(const Words& words_in_gaps) const {
  Words result = words;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    result[static_cast<std::size_t>(gaps[i])] = words_in_gaps[i];
  }
  return result;
}

std::vector<Task> draw_tasks(const std::string& corpus, std::span<const Words> sentences, int count,
                             std::uint64_t seed) {
  std::vector<std::size_t> fitting;
  for (std::size_t line = 0; line < sentences.size(); ++line) {
    const std::size_t n = sentences[line].size();
    if (n >= kFewestWords && n <= kMostWords) fitting.push_back(line);
  }
  if (fitting.size() < static_cast<std::size_t>(count)) {
    throw DataError(fmt::format("{} has {} sentences of {} to {} words, but {} are needed", corpus,
                                fitting.size(), kFewestWords, kMostWords, count));
  }
  const std::uint32_t of_corpus = number_of(corpus);
  std::vector<Task> tasks;
  for (const std::size_t k : some_of(fitting.size(), static_cast<std::size_t>(count),
                                     Stream(seed, of_corpus, 0, Purpose::batch))) {
    Task task{corpus, fitting[k], sentences[fitting[k]], {}};
    const std::size_t n = task.words.size();
    const auto gaps = static_cast<std::size_t>(std::lround(kMasked * static_cast<double>(n)));
    const Stream places(seed, of_corpus, 1 + tasks.size(), Purpose::batch);
    for (const std::size_t at : some_of(n - 2, gaps, places)) {
      task.gaps.push_back(static_cast<int>(at) + 1);
    }
    std::sort(task.gaps.begin(), task.gaps.end());
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::uint64_t seed_of_task(std::uint64_t seed, std::size_t task) {
  const PhiloxBlock block = Stream(seed, kAllChains, task, Purpose::batch).block(0);
  return std::uint64_t{block[0]} << 32 | block[1];
}

std::vector<std::vector<bool>> repeated(const std::vector<Words>& completions) {
  std::vector<std::vector<bool>> marks;
  for (const Words& mine : completions) {
    std::vector<bool> of_mine;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto same = std::count_if(completions.begin(), completions.end(),
                                      [&](const Words& other) { return other[i] == mine[i]; });
      of_mine.push_back(same > 1);
    }
    marks.push_back(std::move(of_mine));
  }
  return marks;
}

}  // namespace saltus::reproduce::text
