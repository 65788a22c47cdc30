// n-grams as numbers, counted from 0 for each n: two are the same when the n-grams are.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "saltus/text/bleu.hpp"

namespace saltus {

// Numbers for keys in the order in which they come.
class Numbering {
 public:
  static constexpr std::int32_t kNone = -1;

  std::int32_t add(std::uint64_t key);
  std::int32_t find(std::uint64_t key) const;  // kNone: it was never added
  std::int32_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::int32_t number = kNone;
  };
  std::size_t place(std::uint64_t key) const;
  void grow();

  std::vector<Slot> slots_;  // open addressing
  std::int32_t size_ = 0;
};

class Ngrams {
 public:
  explicit Ngrams(int longest) : orders_(static_cast<std::size_t>(longest)) {}

  // out[n - 1]: the numbers of the sentence's n-grams, one for each place, in increasing order.
  // find() gives kNone for those that were never added.
  using Numbers = std::vector<std::vector<std::int32_t>>;
  void add(const Sentence& sentence, Numbers& out);
  void find(const Sentence& sentence, Numbers& out) const;
  std::int32_t count(int n) const { return orders_[static_cast<std::size_t>(n - 1)].size(); }

 private:
  std::unordered_map<std::string, std::int32_t> words_;
  std::vector<Numbering> orders_;  // an n-gram is an (n-1)-gram and a word
};

// Calls f(number, how often it is there) for sorted numbers.
template <class F>
void for_each_count(const std::vector<std::int32_t>& numbers, const F& f) {
  for (std::size_t i = 0, next = 0; i < numbers.size(); i = next) {
    while (next < numbers.size() && numbers[next] == numbers[i]) ++next;
    f(numbers[i], static_cast<std::int32_t>(next - i));
  }
}

}  // namespace saltus
