#include "saltus/text/bleu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_map>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kFirstSlots = 1024;

// The finaliser of MurmurHash3: keys differ in few bits.
std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCDu;
  key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53u;
  return key ^ (key >> 33);
}

}  // namespace

// n-grams as numbers, counted from 0 for each n: two are the same when the n-grams are.

// Numbers for keys in the order in which they come.
class Numbering {
 public:
  static constexpr std::int32_t kNone = -1;

  std::int32_t add(std::uint64_t key) {
    if (2 * static_cast<std::size_t>(size_) >= slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.number == kNone) slot = {key, size_++};
    return slot.number;
  }
  // kNone: it was never added.
  std::int32_t find(std::uint64_t key) const {
    return slots_.empty() ? kNone : slots_[place(key)].number;
  }
  std::int32_t size() const { return size_; }

 private:
  struct Slot {
    std::uint64_t key;
    std::int32_t number = kNone;
  };
  std::size_t place(std::uint64_t key) const {
    std::size_t at = mixed(key) & (slots_.size() - 1);
    while (slots_[at].number != kNone && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(std::max(kFirstSlots, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number != kNone) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // open addressing
  std::int32_t size_ = 0;
};

class Ngrams {
 public:
  explicit Ngrams(int longest) : orders_(static_cast<std::size_t>(longest)) {}

  // out[n - 1]: the numbers of the sentence's n-grams, one for each place, in increasing order.
  // find() gives kNone for those that were never added.
  using Numbers = std::vector<std::vector<std::int32_t>>;
  void add(const Sentence& sentence, Numbers& out) {
    number_ngrams(
        sentence, out,
        [&](const std::string& text) {
          return words_.try_emplace(text, static_cast<std::int32_t>(words_.size())).first->second;
        },
        [&](std::size_t order, std::uint64_t key) { return orders_[order].add(key); });
  }
  void find(const Sentence& sentence, Numbers& out) const {
    number_ngrams(
        sentence, out,
        [&](const std::string& text) {
          const auto found = words_.find(text);
          return found == words_.end() ? Numbering::kNone : found->second;
        },
        [&](std::size_t order, std::uint64_t key) { return orders_[order].find(key); });
  }
  std::int32_t count(int n) const { return orders_[static_cast<std::size_t>(n - 1)].size(); }

 private:
  // `number(order, key)` numbers an n-gram, `word(text)` a word.
  template <class WordNumber, class Number>
  void number_ngrams(const Sentence& sentence, Numbers& out, const WordNumber& word,
                     const Number& number) const {
    out.resize(orders_.size());
    std::vector<std::int32_t> words, prefixes;
    for (const std::string& text : sentence) words.push_back(word(text));
    prefixes.assign(sentence.size(), 0);
    for (std::size_t order = 0; order < orders_.size(); ++order) {
      const std::size_t places = sentence.size() > order ? sentence.size() - order : 0;
      for (std::size_t i = 0; i < places; ++i) {
        const std::int32_t prefix = prefixes[i], last = words[i + order];
        prefixes[i] = prefix < 0 || last < 0
                          ? Numbering::kNone
                          : number(order, static_cast<std::uint64_t>(prefix) << 32 |
                                              static_cast<std::uint64_t>(last));
      }
      out[order].assign(prefixes.begin(), prefixes.begin() + static_cast<std::ptrdiff_t>(places));
      std::sort(out[order].begin(), out[order].end());
    }
  }

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

namespace {

// What corpus BLEU sums over sentences.
class BleuSums {
 public:
  void add_length(std::int64_t length, std::int64_t closest) {
    length_ += length;
    closest_ += closest;
  }
  // An n-gram counts as often as it is in the sentence, but at most as most(number) says.
  template <class Most>
  void add_ngrams(std::size_t order, const std::vector<std::int32_t>& numbers, const Most& most) {
    for_each_count(numbers, [&](std::int32_t number, std::int32_t count) {
      if (number == Numbering::kNone) return;
      matches_[order] += std::min(count, most(static_cast<std::size_t>(number)));
    });
    all_[order] += std::max<std::int64_t>(static_cast<std::int64_t>(numbers.size()), 1);
  }
  BleuScore score() const {
    BleuScore out;
    out.length = length_;
    out.reference_length = closest_;
    const double ratio = static_cast<double>(closest_) / static_cast<double>(length_);
    out.brevity_penalty = length_ > closest_ ? 1 : length_ == 0 ? 0 : std::exp(1 - ratio);
    double log_mean = 0;
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      if (all_[n])
        out.precision[n] = static_cast<double>(matches_[n]) / static_cast<double>(all_[n]);
      log_mean += std::log(out.precision[n]) / kBleuOrder;
    }
    out.bleu = out.brevity_penalty * std::exp(log_mean);
    return out;
  }

 private:
  std::array<std::int64_t, kBleuOrder> matches_ = {}, all_ = {};
  std::int64_t length_ = 0, closest_ = 0;
};

// Lengths of the references, and how many have each.
using Lengths = std::map<std::int64_t, std::int64_t>;

// Of those closest to `length`, the shorter; `without_one` of that length itself.
std::int64_t closest(const Lengths& lengths, std::int64_t length, bool without_one) {
  std::int64_t best = -1;
  for (const auto& [candidate, count] : lengths) {
    if (without_one && candidate == length && count == 1) continue;
    if (best < 0 || std::abs(candidate - length) < std::abs(best - length)) best = candidate;
  }
  return best;
}

std::int64_t length_of(const Sentence& sentence) {
  return static_cast<std::int64_t>(sentence.size());
}

// How often each n-gram of `sentences` is there, by its number in `ngrams`.
std::vector<std::int64_t> count_ngrams(Ngrams& ngrams, std::span<const Sentence> sentences, int n) {
  std::vector<std::int64_t> counts;
  Ngrams::Numbers numbers;
  for (const Sentence& sentence : sentences) {
    ngrams.add(sentence, numbers);
    counts.resize(static_cast<std::size_t>(ngrams.count(n)));
    for (const std::int32_t number : numbers[static_cast<std::size_t>(n - 1)]) {
      ++counts[static_cast<std::size_t>(number)];
    }
  }
  return counts;
}

double share(std::int64_t part, std::span<const std::int64_t> counts) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  return all ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

void check_order(int n) {
  if (n < 1) throw UsageError("n-grams have at least one word");
}

}  // namespace

// The two largest counts of an n-gram in a sentence, and the sentence of the larger.
struct TwoLargest {
  std::int32_t first = 0, second = 0;
  std::size_t sentence = 0;

  void add(std::int32_t count, std::size_t in) {
    if (count > first) {
      second = first;
      first = count;
      sentence = in;
    } else {
      second = std::max(second, count);
    }
  }
  std::int32_t without(std::size_t in) const { return in == sentence ? second : first; }
};

// The n-grams of sentences that others are compared with.
struct BleuCounts {
  Ngrams ngrams{kBleuOrder};
  std::array<std::vector<TwoLargest>, kBleuOrder> largest;
  Lengths lengths;

  // Adds sentence number `s` and gives the numbers of its n-grams.
  void add(const Sentence& sentence, std::size_t s, Ngrams::Numbers& numbers) {
    ++lengths[length_of(sentence)];
    ngrams.add(sentence, numbers);
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      largest[n].resize(static_cast<std::size_t>(ngrams.count(static_cast<int>(n) + 1)));
      for_each_count(numbers[n], [&](std::int32_t number, std::int32_t count) {
        largest[n][static_cast<std::size_t>(number)].add(count, s);
      });
    }
  }
  // Compares a sentence with all that were added, but for number `s`, which may be the sentence.
  void compare(const Ngrams::Numbers& numbers, std::int64_t length, std::optional<std::size_t> s,
               BleuSums& sums) const {
    sums.add_length(length, closest(lengths, length, s.has_value()));
    for (std::size_t n = 0; n < kBleuOrder; ++n) {
      sums.add_ngrams(n, numbers[n], [&](std::size_t number) {
        return s ? largest[n][number].without(*s) : largest[n][number].first;
      });
    }
  }
};

struct BleuReferences::Counts : BleuCounts {};

BleuReferences::BleuReferences(std::span<const Sentence> references)
    : counts_(std::make_unique<Counts>()) {
  if (references.empty()) throw DataError("BLEU needs references");
  Ngrams::Numbers numbers;
  for (std::size_t s = 0; s < references.size(); ++s) counts_->add(references[s], s, numbers);
}

BleuReferences::BleuReferences(BleuReferences&&) noexcept = default;
BleuReferences::~BleuReferences() = default;

BleuScore BleuReferences::score(std::span<const Sentence> sentences) const {
  BleuSums sums;
  Ngrams::Numbers numbers;
  for (const Sentence& sentence : sentences) {
    counts_->ngrams.find(sentence, numbers);
    counts_->compare(numbers, length_of(sentence), {}, sums);
  }
  return sums.score();
}

BleuScore self_bleu(std::span<const Sentence> sentences) {
  if (sentences.size() < 2) throw DataError("self-BLEU needs two sentences or more");
  BleuCounts counts;
  std::vector<Ngrams::Numbers> numbers(sentences.size());
  for (std::size_t s = 0; s < sentences.size(); ++s) counts.add(sentences[s], s, numbers[s]);
  BleuSums sums;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    counts.compare(numbers[s], length_of(sentences[s]), s, sums);
  }
  return sums.score();
}

double unique_ngrams(std::span<const Sentence> sentences, int n) {
  check_order(n);
  Ngrams ngrams(n);
  const std::vector<std::int64_t> counts = count_ngrams(ngrams, sentences, n);
  std::int64_t once = 0;
  for (const std::int64_t count : counts) once += count == 1;
  return share(once, counts);
}

double unique_ngrams(std::span<const Sentence> sentences, int n, std::span<const Sentence> corpus) {
  check_order(n);
  Ngrams ngrams(n);
  const auto known = count_ngrams(ngrams, corpus, n).size();
  const std::vector<std::int64_t> counts = count_ngrams(ngrams, sentences, n);
  // Numbers from `known` on were not met in the corpus.
  return share(static_cast<std::int64_t>(counts.size() - std::min(known, counts.size())), counts);
}

}  // namespace saltus
