#include "text/ngrams.hpp"

#include <algorithm>

namespace saltus {
namespace {

constexpr std::size_t kFirstSlots = 1024;

// The finaliser of MurmurHash3: keys differ in few bits.
std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ (key >> 33)) * 0xFF51AFD7ED558CCDu;
  key = (key ^ (key >> 33)) * 0xC4CEB9FE1A85EC53u;
  return key ^ (key >> 33);
}

// `number(order, key)` numbers an n-gram, `word(text)` a word.
template <class WordNumber, class Number>
void number_ngrams(const Sentence& sentence, std::size_t longest, Ngrams::Numbers& out,
                   const WordNumber& word, const Number& number) {
  out.resize(longest);
  std::vector<std::int32_t> words, prefixes;
  for (const std::string& text : sentence) words.push_back(word(text));
  prefixes.assign(sentence.size(), 0);
  for (std::size_t order = 0; order < longest; ++order) {
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

}  // namespace

std::size_t Numbering::place(std::uint64_t key) const {
  std::size_t at = mixed(key) & (slots_.size() - 1);
  while (slots_[at].number != kNone && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
  return at;
}

void Numbering::grow() {
  std::vector<Slot> old(std::max(kFirstSlots, 2 * slots_.size()));
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.number != kNone) slots_[place(slot.key)] = slot;
  }
}

std::int32_t Numbering::add(std::uint64_t key) {
  if (2 * static_cast<std::size_t>(size_) >= slots_.size()) grow();
  Slot& slot = slots_[place(key)];
  if (slot.number == kNone) slot = {key, size_++};
  return slot.number;
}

std::int32_t Numbering::find(std::uint64_t key) const {
  return slots_.empty() ? kNone : slots_[place(key)].number;
}

void Ngrams::add(const Sentence& sentence, Numbers& out) {
  number_ngrams(
      sentence, orders_.size(), out,
      [&](const std::string& text) {
        return words_.try_emplace(text, static_cast<std::int32_t>(words_.size())).first->second;
      },
      [&](std::size_t order, std::uint64_t key) { return orders_[order].add(key); });
}

void Ngrams::find(const Sentence& sentence, Numbers& out) const {
  number_ngrams(
      sentence, orders_.size(), out,
      [&](const std::string& text) {
        const auto found = words_.find(text);
        return found == words_.end() ? Numbering::kNone : found->second;
      },
      [&](std::size_t order, std::uint64_t key) { return orders_[order].find(key); });
}

}  // namespace saltus
