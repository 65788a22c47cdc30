// Heat-bath updates of an Ising lattice, a row of one colour at a time. Compiled once per
// instruction set; all decisions compare integers, so every one makes those of the specification.
//
// Two columns fill 32 bits: with the sites of the colour in the lower halves of the lanes, their
// neighbours are what is loaded from above, below and one to the left, and the upper halves.
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// Random words in order, from blocks of 64 at a time.
class Words {
 public:
  static constexpr int kMost = 1024;
  Words(const Stream& stream, uint32_t first) : stream_(stream), next_(first) {}

  // At least one and at most `wanted` words; `count` says how many.
  const uint32_t* take(int wanted, int& count) {
    if (at_ == filled_) fill(wanted);
    count = wanted < filled_ - at_ ? wanted : filled_ - at_;
    at_ += count;
    return words_ + at_ - count;
  }

 private:
  void fill(int wanted) {
    at_ = filled_ = 0;
    do {
      for (int part = 0; part < kParts; ++part) {
        Word random[4];
        philox((Word)lanes_from_zero() + (next_ / 4 + static_cast<uint32_t>(part * kWidth)),
               stream_, random);
        for (int w = 0; w < 4; ++w) store(words_ + filled_ + 16 * w + part * kWidth, random[w]);
      }
      filled_ += kGroup;
      next_ += kGroup;
    } while (filled_ < wanted && filled_ < kMost);
  }

  const Stream& stream_;
  uint32_t next_;
  int at_ = 0, filled_ = 0;
  alignas(64) uint32_t words_[kMost];
};

// A row of the lattice and those above and below; these are null where there is none.
struct Row {
  Symbol* here;
  const Symbol *above, *below;
  int vertical;  // neighbours above and below
};

inline uint32_t draw_site(const LatticeGibbs& lattice, const Row& row, int c, uint32_t word) {
  const int last = lattice.cols - 1;
  const bool wraps = lattice.periodic && lattice.cols > 2;
  int degree = row.vertical, up = (row.above ? row.above[c] : 0) + (row.below ? row.below[c] : 0);
  if (c > 0 || wraps) up += row.here[c > 0 ? c - 1 : last], ++degree;
  if (c < last || wraps) up += row.here[c < last ? c + 1 : 0], ++degree;
  const Symbol drawn = word >> 1 <
                       lattice.threshold[static_cast<size_t>(degree)][static_cast<size_t>(up)],
               before = row.here[c];
  row.here[c] = drawn;
  return drawn != before;
}

// The largest 31-bit words that lead to level 1 for up = 0 .. 4: -1 when none does.
class Thresholds {
 public:
  explicit Thresholds(const uint32_t* of_up) {
#if defined(__AVX2__)
    for (int k = 0; k < 5; ++k) table_[k] = static_cast<int32_t>(of_up[k] - 1);
#else
    for (int k = 0; k < 5; ++k) table_[k] = Int{} + static_cast<int32_t>(of_up[k] - 1);
#endif
  }
  Int of(Int up) const {
#if defined(__AVX512F__)
    return (Int)_mm512_permutexvar_epi32((__m512i)up, (__m512i)table_);
#elif defined(__AVX2__)
    return (Int)_mm256_permutevar8x32_epi32((__m256i)table_, (__m256i)up);
#else
    Int t = up > 0 ? table_[1] : table_[0];
    for (int k = 2; k < 5; ++k) t = up >= k ? table_[k] : t;
    return t;
#endif
  }

 private:
#if defined(__AVX2__)
  Int table_{};
#else
  Int table_[5];
#endif
};

// kWidth sites c, c + 2, ..., all inside the row. Lanes of `changed` are counted down.
inline void draw_sites(const Thresholds& thresholds, const Row& row, int c, const uint32_t* words,
                       Int& changed) {
  const int32_t low = 0xFFFF;
  const Int here = load<Int>(row.here + c);
  Int up = load<Int>(row.here + c - 1);
  if (row.above) up += load<Int>(row.above + c);
  if (row.below) up += load<Int>(row.below + c);
  up = (up & low) + (Int)((Word)here >> 16);
  const Int word = (Int)(load<Word>(words) >> 1);
  const Int drawn = (word <= thresholds.of(up)) & 1;
  changed += (here & low) != drawn;
  store(row.here + c, (here & ~low) | drawn);
}

// `count` sites c, c + 2, ... with both side neighbours in the row. The last register may take
// sites again: with the same neighbours and words they are drawn the same.
inline uint32_t draw_inside(const LatticeGibbs& lattice, const Row& row, int c, int count,
                            const uint32_t* words) {
  uint32_t total = 0;
  if (count < kWidth) {
    for (int k = 0; k < count; ++k) total += draw_site(lattice, row, c + 2 * k, words[k]);
    return total;
  }
  const Thresholds thresholds(&lattice.threshold[static_cast<size_t>(row.vertical + 2)][0]);
  Int changed{};
  for (int k = 0; k < count - kWidth; k += kWidth) {
    draw_sites(thresholds, row, c + 2 * k, words + k, changed);
  }
  draw_sites(thresholds, row, c + 2 * (count - kWidth), words + count - kWidth, changed);
  for (int j = 0; j < kWidth; ++j) total -= static_cast<uint32_t>(changed[j]);
  return total;
}

inline uint32_t draw_row(const LatticeGibbs& lattice, const Row& row, int c, Words& source) {
  uint32_t changed = 0;
  while (c < lattice.cols) {
    int count = 0;
    const uint32_t* words = source.take((lattice.cols - c + 1) / 2, count);
    const int end = c + 2 * count;
    if (c == 0 && count > 0) {
      changed += draw_site(lattice, row, 0, *words++);
      c += 2;
      --count;
    }
    const bool at_end = count > 0 && end - 2 == lattice.cols - 1;
    changed += draw_inside(lattice, row, c, count - at_end, words);
    if (at_end) changed += draw_site(lattice, row, end - 2, words[count - 1]);
    c = end;
  }
  return changed;
}

}  // namespace

uint32_t gibbs_lattice(const LatticeGibbs& lattice, int colour, Symbol* x, const Stream& stream,
                       uint32_t first_word) {
  const int rows = lattice.rows;
  const bool wraps = lattice.periodic && rows > 2;
  Words words(stream, first_word);
  uint32_t changed = 0;
  for (int r = 0; r < rows; ++r) {
    const int up = r > 0 ? r - 1 : wraps ? rows - 1 : -1;
    const int down = r + 1 < rows ? r + 1 : wraps ? 0 : -1;
    const auto row_at = [&](int i) {
      return i < 0 ? nullptr : x + static_cast<int64_t>(i) * lattice.cols;
    };
    const Row row{row_at(r), row_at(up), row_at(down), (up >= 0) + (down >= 0)};
    changed += draw_row(lattice, row, (r + colour) % 2, words);
  }
  return changed;
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
