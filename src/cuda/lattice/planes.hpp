// An Ising lattice 32 sites at a time. Site i = row * cols + col is bit i % 32 of word i / 32 of a
// flat array; what matters about the neighbours of 32 sites is a number of few bits for each, held
// as bit planes.
#pragma once

#include <cstdint>

#include "saltus/core/both.hpp"

namespace saltus::cuda {

// The low word of (high:low) >> shift, for shift 0 to 31.
inline SALTUS_BOTH std::uint32_t funnel(std::uint32_t low, std::uint32_t high, int shift) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, static_cast<std::uint32_t>(shift));
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> shift);
#endif
}

inline SALTUS_BOTH int count_bits(std::uint32_t v) {
#ifdef __CUDA_ARCH__
  return __popc(v);
#else
  return __builtin_popcount(v);
#endif
}

// Four bytes of b:a, which have the numbers 7 to 0; the lowest digit of `which` names the lowest.
inline SALTUS_BOTH std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t which) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, which);
#else
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t out = 0;
  for (int k = 0; k < 4; ++k) {
    out |= static_cast<std::uint32_t>(both >> (which >> 4 * k & 7) * 8 & 0xFF) << 8 * k;
  }
  return out;
#endif
}

struct LatticeShape {
  int rows, cols, sites, words;
  bool row_wraps, col_wraps;  // two rows, or one, have no second edge around the lattice

  LatticeShape(int rows_, int cols_, bool periodic)
      : rows(rows_),
        cols(cols_),
        sites(rows_ * cols_),
        words((sites + 31) / 32),
        row_wraps(periodic && rows_ > 2),
        col_wraps(periodic && cols_ > 2) {}
  SALTUS_BOTH bool all_have_four() const { return row_wraps && col_wraps; }
  // Words are whole parts of rows, and there are a power of two of them to a row.
  bool aligned() const {
    const int words_of_row = cols / 32;
    return all_have_four() && cols % 32 == 0 && words_of_row <= 32 && 32 % words_of_row == 0;
  }
  SALTUS_BOTH std::uint32_t valid(int word) const {
    if (word >= words) return 0;
    return word == words - 1 && sites % 32 ? (1u << sites % 32) - 1 : ~0u;
  }
};

// The law of a site depends on its spin and on the sum h of its neighbours' spins. `kFour`: all
// sites have four neighbours, and the number of those that are up, 0 to 4, stands for h; otherwise
// h + 4, 0 to 8, does. Without a field the law does not change when all spins are turned round: one
// number stands for h and the spin, that of h for the spin that is up.
template <bool kFour_, bool kField_>
struct LatticeKind {
  static constexpr bool kFour = kFour_, kField = kField_;
  static constexpr int kTop = kFour ? 4 : 8;  // h in its planes: 0 to kTop
  static constexpr int kHeightPlanes = kFour ? 3 : 4;
  static constexpr int kPlanes = kHeightPlanes + kField;  // the last one is the spin
  static constexpr int kCodes = 1 << kPlanes;             // numbers that planes can hold
  // The set of codes of a spin that is up.
  static constexpr std::uint32_t kUpCodes = ((1u << kCodes / 2) - 1) << kCodes / 2;
  // Every class of sites has a counter but one, which has the rest.
  static constexpr int kCounters = kField ? 2 * kTop + 1 : kTop;

  static SALTUS_BOTH int code(int height, bool up) {
    return kField ? height + (up << kHeightPlanes) : up ? height : kTop - height;
  }
  static SALTUS_BOTH int sum_of_neighbours(int height) {
    return kFour ? 2 * height - 4 : height - 4;
  }
};

// Numbers of 0 to 4 for 32 sites.
struct Planes {
  std::uint32_t n0, n1, n2;
};

inline SALTUS_BOTH Planes add_up(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                 std::uint32_t d) {
  const std::uint32_t sum = a ^ b ^ c, carry = (a & b) | (c & (a ^ b));
  const std::uint32_t second = sum & d;
  return {sum ^ d, carry ^ second, carry & second};
}

template <class Kind>
struct Codes {
  std::uint32_t plane[Kind::kPlanes];
};

// The codes of 32 sites from the number of neighbours that are up and, unless all have four, the
// number that are missing. Where there is no site all bits must be zero.
template <class Kind>
SALTUS_BOTH Codes<Kind> codes_of(Planes up, Planes missing, std::uint32_t x) {
  Codes<Kind> c{};
  std::uint32_t* p = c.plane;
  if constexpr (Kind::kFour) {
    p[0] = up.n0, p[1] = up.n1, p[2] = up.n2;
    if constexpr (!Kind::kField) {  // 4 - n where the spin is down
      p[1] = up.n1 ^ (up.n0 & ~x);
      p[2] = (up.n2 & x) | ~(up.n0 | up.n1 | up.n2 | x);
    }
  } else {  // 2 up + missing
    const std::uint32_t carry = up.n0 & missing.n1, sum = up.n1 ^ missing.n2;
    p[0] = missing.n0;
    p[1] = up.n0 ^ missing.n1;
    p[2] = sum ^ carry;
    p[3] = up.n2 ^ ((up.n1 & missing.n2) | (sum & carry));
    if constexpr (!Kind::kField) {  // 8 - h where the spin is down
      const std::uint32_t low = p[0] | p[1];
      p[3] ^= ~(low | p[2]) & ~x;
      p[2] ^= low & ~x;
      p[1] ^= p[0] & ~x;
    }
  }
  if constexpr (Kind::kField) p[Kind::kPlanes - 1] = x;
  return c;
}

// The sites of height `height`.
template <class Kind>
SALTUS_BOTH std::uint32_t at_height(const Codes<Kind>& c, int height) {
  constexpr int kLast = Kind::kHeightPlanes - 1;
  if (height == Kind::kTop) return c.plane[kLast];
  std::uint32_t all = height == 0 ? ~c.plane[kLast] : ~0u;
  SALTUS_UNROLL
  for (int b = 0; b < kLast; ++b) all &= height >> b & 1 ? c.plane[b] : ~c.plane[b];
  return all;
}

// The sites that counter k counts.
template <class Kind>
SALTUS_BOTH std::uint32_t counted(const Codes<Kind>& c, int k) {
  if constexpr (!Kind::kField) return at_height<Kind>(c, k);
  return k < Kind::kTop ? at_height<Kind>(c, k + 1)
                        : at_height<Kind>(c, k - Kind::kTop) & c.plane[Kind::kPlanes - 1];
}

// The sites whose code is in a set: bit k stands for code k.
template <class Kind>
SALTUS_BOTH std::uint32_t members(const Codes<Kind>& c, std::uint32_t set) {
  std::uint32_t all = 0;
  SALTUS_DO_NOT_UNROLL
  for (; set != 0; set &= set - 1) {
    const std::uint32_t lowest = set & (0 - set);
    const int code = count_bits(lowest - 1);
    std::uint32_t of_code = ~0u;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) {
      of_code &= c.plane[b] ^ ((static_cast<std::uint32_t>(code) >> b & 1) - 1);
    }
    all |= of_code;
  }
  return all;
}

// What does not change about 32 sites: which exist, which begin and end a row, and how many
// neighbours each of them lacks.
struct Edges {
  std::uint32_t valid, first, last;
  Planes missing;
};

inline SALTUS_BOTH Edges edges_of(const LatticeShape& shape, int word) {
  Edges e{shape.valid(word), 0, 0, {0, 0, 0}};
  std::uint32_t top = 0, bottom = 0;
  int row = 32 * word / shape.cols, col = 32 * word % shape.cols;
  for (int b = 0; b < 32; ++b) {
    const std::uint32_t bit = e.valid & 1u << b;
    if (col == 0) e.first |= bit;
    if (col == shape.cols - 1) e.last |= bit;
    if (row == 0) top |= bit;
    if (row == shape.rows - 1) bottom |= bit;
    if (++col == shape.cols) col = 0, ++row;
  }
  const std::uint32_t rows = shape.row_wraps ? 0 : ~0u, cols = shape.col_wraps ? 0 : ~0u;
  e.missing = add_up(top & rows, bottom & rows, e.first & cols, e.last & cols);
  return e;
}

// Words of zeros on both sides of the flat array that neighbours_up reads.
inline SALTUS_BOTH int lattice_padding(const LatticeShape& shape) {
  return shape.cols / 32 + 2;
}

// Bits p to p + 31.
inline SALTUS_BOTH std::uint32_t window(const std::uint32_t* bits, int p) {
  return funnel(bits[p >> 5], bits[(p >> 5) + 1], p & 31);
}

// How many neighbours of the sites of word w are up. `bits` is the flat array, `own` its word w.
inline SALTUS_BOTH Planes neighbours_up(const LatticeShape& s, const Edges& e,
                                        const std::uint32_t* bits, int w, std::uint32_t own) {
  const int above = 32 * w - s.cols, below = 32 * w + s.cols;
  std::uint32_t up = window(bits, above), down = window(bits, below);
  if (s.row_wraps && above < 0) up |= window(bits, above + s.sites);
  if (s.row_wraps && below + 32 > s.sites) down |= window(bits, below - s.sites);
  std::uint32_t left = funnel(bits[w - 1], own, 31) & ~e.first;
  std::uint32_t right = funnel(own, bits[w + 1], 1) & ~e.last;
  if (s.col_wraps) {
    left |= window(bits, below - 1) & e.first;
    right |= window(bits, above + 1) & e.last;
  }
  const Planes n = add_up(up, down, left, right);
  return {n.n0 & e.valid, n.n1 & e.valid, n.n2 & e.valid};
}

// The same where the shape is aligned: without padding, from the words at both sides.
inline SALTUS_BOTH Planes neighbours_up(const LatticeShape& s, std::uint32_t valid,
                                        const std::uint32_t* bits, int w, std::uint32_t own,
                                        std::uint32_t before, std::uint32_t after) {
  const int words_of_row = s.cols / 32;
  int above = w - words_of_row, below = w + words_of_row;
  if (above < 0) above += s.words;
  if (below >= s.words) below -= s.words;
  const Planes n = add_up(bits[above], bits[below], funnel(before, own, 31), funnel(own, after, 1));
  return {n.n0 & valid, n.n1 & valid, n.n2 & valid};
}

// The same for a lattice of at most 32 sites.
inline SALTUS_BOTH Planes neighbours_up(const LatticeShape& s, const Edges& e, std::uint32_t own) {
  const std::uint64_t x = own;
  std::uint64_t up = x << s.cols, down = x >> s.cols;
  if (s.row_wraps) {
    up |= x >> (s.sites - s.cols);
    down |= x << (s.sites - s.cols);
  }
  std::uint64_t left = x << 1 & ~std::uint64_t{e.first}, right = x >> 1 & ~std::uint64_t{e.last};
  if (s.col_wraps) {
    left |= x >> (s.cols - 1) & e.first;
    right |= x << (s.cols - 1) & e.last;
  }
  const Planes n = add_up(static_cast<std::uint32_t>(up), static_cast<std::uint32_t>(down),
                          static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right));
  return {n.n0 & e.valid, n.n1 & e.valid, n.n2 & e.valid};
}

}  // namespace saltus::cuda
