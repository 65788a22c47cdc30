#include "saltus/diagnose/mmd.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr int kWordBits = 64;

struct PackedRows {
  const std::uint64_t* data;
  int rows;
};

// Counts, for each row of `more`, how many bits differ from `row`. Counts of pairs are whole
// numbers: the sum of the kernel does not depend on the order of rows.
inline __attribute__((always_inline)) void count_bits(const std::uint64_t* row, PackedRows more,
                                                      int words, std::uint64_t* histogram) {
  for (int r = 0; r < more.rows; ++r) {
    const std::uint64_t* other = more.data + static_cast<std::ptrdiff_t>(r) * words;
    int differ = 0;
    for (int w = 0; w < words; ++w) differ += std::popcount(row[w] ^ other[w]);
    ++histogram[differ];
  }
}

void count_bits_anywhere(const std::uint64_t* row, PackedRows more, int words,
                         std::uint64_t* histogram) {
  count_bits(row, more, words, histogram);
}

#if defined(__x86_64__)
// The first x86-64 processors had no instruction for it, so that compilers do without.
__attribute__((target("popcnt"))) void count_bits_popcnt(const std::uint64_t* row, PackedRows more,
                                                         int words, std::uint64_t* histogram) {
  count_bits(row, more, words, histogram);
}
#endif

auto chosen_count_bits() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("popcnt")) return count_bits_popcnt;
#endif
  return count_bits_anywhere;
}

int differing(const Symbol* a, const Symbol* b, int dim) {
  int count = 0;
  for (int i = 0; i < dim; ++i) count += a[i] != b[i];
  return count;
}

bool two_level(Rows<const Symbol> rows) {
  Symbol all = 0;
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) all = static_cast<Symbol>(all | x);
  }
  return all <= 1;
}

}  // namespace

MmdReference::MmdReference(Rows<const Symbol> y)
    : count_(y.rows), words_((y.cols + kWordBits - 1) / kWordBits) {
  if (y.rows < 1 || y.cols < 1) throw UsageError("the reference set of an MMD is empty");
  y_ = RowBuffer<Symbol>(y.rows, y.cols);
  for (int r = 0; r < y.rows; ++r) std::copy_n(y[r], y.cols, y_.view()[r]);
  for (int differ = 0; differ <= y.cols; ++differ) {
    kernel_.push_back(std::exp(-static_cast<double>(differ) / y.cols));
  }
  packed_ = pack(y);
  pairs_yy_ = over_pairs(y, packed_, y, packed_, true);
}

MmdReference::Packed MmdReference::pack(Rows<const Symbol> rows) const {
  if (!two_level(rows)) return {};
  Packed packed(static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(words_));
  std::uint64_t* word = packed.data();
  for (int r = 0; r < rows.rows; ++r) {
    for (int first = 0; first < rows.cols; first += kWordBits, ++word) {
      const int bits = std::min(kWordBits, rows.cols - first);
      for (int b = 0; b < bits; ++b) {
        *word |= static_cast<std::uint64_t>(rows[r][first + b]) << b;
      }
    }
  }
  return packed;
}

double MmdReference::over_pairs(Rows<const Symbol> x, const Packed& packed_x, Rows<const Symbol> y,
                                const Packed& packed_y, bool later) const {
  std::vector<std::uint64_t> histogram(kernel_.size());
  const auto count_bits_of = chosen_count_bits();
  for (int r = 0; r < x.rows; ++r) {
    const int first = later ? r + 1 : 0;
    if (!packed_x.empty() && !packed_y.empty()) {
      const auto row = [&](const Packed& rows, int k) {
        return rows.data() + static_cast<std::ptrdiff_t>(k) * words_;
      };
      count_bits_of(row(packed_x, r), {row(packed_y, first), y.rows - first}, words_,
                    histogram.data());
      continue;
    }
    for (int s = first; s < y.rows; ++s) {
      ++histogram[static_cast<std::size_t>(differing(x[r], y[s], x.cols))];
    }
  }
  double total = 0;
  for (std::size_t differ = 0; differ < histogram.size(); ++differ) {
    total += static_cast<double>(histogram[differ]) * kernel_[differ];
  }
  return total;
}

Mmd MmdReference::squared(Rows<const Symbol> x) const {
  if (x.rows < 1) throw UsageError("an MMD needs at least one state");
  if (x.cols != y_.view().cols) {
    throw UsageError("an MMD compares states of one size; there are some with " +
                     std::to_string(x.cols) + " coordinates and some with " +
                     std::to_string(y_.view().cols));
  }
  const Packed packed = pack(x);
  const double m = x.rows, n = count_;
  const double pairs_xx = over_pairs(x, packed, x, packed, true);
  const double mean_xy = over_pairs(x, packed, y_.view(), packed_, false) / (m * n);
  // A row and itself: k = 1.
  const double v = (m + 2 * pairs_xx) / (m * m) + (n + 2 * pairs_yy_) / (n * n) - 2 * mean_xy;
  const double u = pairs_xx / (m * (m - 1) / 2) + mean_kernel() - 2 * mean_xy;
  return {v, u};
}

Mmd mmd_squared(Rows<const Symbol> x, Rows<const Symbol> y) {
  return MmdReference(y).squared(x);
}

double mmd_floor(int m, int n, double mean_kernel) {
  return (1.0 / m + 1.0 / n) * (1 - mean_kernel);
}

}  // namespace saltus
