// Sweeps of Gibbs on an Ising lattice, the two colours of the chessboard in turn. Random numbers,
// and what they decide, are those of the host's sampler.
#pragma once

#include "cuda/lattice/langevin.hpp"

namespace saltus::cuda {

// The sites of 32 whose row and column have an even sum.
inline SALTUS_BOTH std::uint32_t first_colour(const LatticeShape& shape, int word) {
  std::uint32_t sites = 0;
  int row = 32 * word / shape.cols, col = 32 * word % shape.cols;
  for (int b = 0; b < 32; ++b) {
    if ((row + col) % 2 == 0) sites |= 1u << b;
    if (++col == shape.cols) col = 0, ++row;
  }
  return sites;
}

// Of two neighbouring sites one has the colour: its bit goes to the even place, and back.
inline SALTUS_BOTH std::uint32_t to_even(std::uint32_t v, std::uint32_t colour) {
  const std::uint32_t own = v & colour;
  return (own | own >> 1) & 0x55555555u;
}
inline SALTUS_BOTH std::uint32_t from_even(std::uint32_t v, std::uint32_t colour) {
  return (v | v << 1) & colour;
}

// Lane q of four gets byte q of each of the four lanes' numbers, in their order.
template <class Team>
SALTUS_BOTH std::uint32_t transpose(const Team& team, std::uint32_t v) {
  const bool odd = team.lane() & 1, high = team.lane() & 2;
  v = pick_bytes(v, team.exchange(v), odd ? 0x3715 : 0x6240);
  const std::uint32_t other = team.exchange_pairs(v);
  return pick_bytes(v, other, high ? 0x3276 : 0x5410);
}

// Which sites of a colour flip. The k-th site of a colour has word first_word + k, and site i is
// number i / 2: 16 words to each word of the lattice, from 16 blocks that four of these share.
// Their lanes draw four blocks each. The codes must have a plane for the spin.
template <class Kind, class Team>
SALTUS_BOTH std::uint32_t draw_colour(const Team& team, const LatticeLaw& law,
                                      const std::uint32_t* table, const Codes<Kind>& codes,
                                      std::uint32_t colour, std::uint32_t first_word, int word,
                                      const Stream& stream) {
  static_assert(Kind::kField);
  Codes<Kind> own;
  std::uint32_t v[Kind::kPlanes];
  SALTUS_UNROLL
  for (int b = 0; b < Kind::kPlanes; ++b) {
    own.plane[b] = to_even(codes.plane[b], colour);
    v[b] = transpose(team, own.plane[b]);
  }
  // Byte w is of lattice word w of the four; site j of four has bit 2 j there. Two planes to a
  // word, then four: nibble t of nibbles[r] is that of j = r + 2 (t % 2) in byte t / 2.
  const std::uint32_t low = v[0] | v[1] << 1, high = v[2] | v[3] << 1;
  const std::uint32_t nibbles[2] = {(low & 0x33333333u) | (high & 0x33333333u) << 2,
                                    (low >> 2 & 0x33333333u) | (high & 0xCCCCCCCCu)};
  const auto quarter = static_cast<std::uint32_t>(word) % 4;
  const std::uint32_t lane = static_cast<std::uint32_t>(team.lane()) * 4;
  const std::uint32_t first_block =
      (first_word / 64 + static_cast<std::uint32_t>(word) / 4) * 16 + 4 * quarter;
  std::uint32_t below = 0;  // where the word is below the threshold, in the places of v
  SALTUS_UNROLL
  for (int j = 0; j < 4; ++j) {
    const PhiloxBlock random = stream.block(first_block + static_cast<std::uint32_t>(j));
    SALTUS_UNROLL
    for (int w = 0; w < 4; ++w) {
      const int t = 2 * w + j / 2, site = 8 * w + 2 * j;
      const std::uint32_t n = nibbles[j % 2];
      std::uint32_t at = (t < 2 ? n << (7 - 4 * t) : n >> (4 * t - 7)) & 0x780;
      if constexpr (Kind::kPlanes == 5) {
        at |= (site < 11 ? v[4] << (11 - site) : v[4] >> (site - 11)) & 0x800;
      }
      const std::uint32_t minus = table[(at | lane) / 4];
      below |= static_cast<std::uint32_t>(random.words[w] < 0u - minus) << site;
    }
  }
  std::uint32_t flips = transpose(team, below);
  // As a rule the word decides about the level.
  flips ^=
      law.inverted == Kind::kUpCodes ? own.plane[Kind::kPlanes - 1] : members(own, law.inverted);
  return from_even(flips, colour);
}

template <class Kind, int kOwn, bool kAligned, class Team>
class GibbsLattice : LatticeWords<Kind, kOwn, kAligned, Team> {
  using Base = LatticeWords<Kind, kOwn, kAligned, Team>;
  using Base::kWords, Base::team_, Base::steps_, Base::memory_, Base::chain_, Base::edges_,
      Base::x_, Base::codes_;

 public:
  SALTUS_BOTH GibbsLattice(const Team& team, const LatticeSteps& steps, const LatticeMemory& memory,
                           int chain)
      : Base(team, steps, memory, chain) {
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) colour_[k] = first_colour(steps.shape, Base::word(k));
  }

  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0;
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) sweep(offset);
      Base::record(part, done_);
      done_ = {};
    }
    Base::write(steps_.state(chain_));
  }

 private:
  SALTUS_BOTH void sweep(std::uint32_t offset) {
    const Stream stream = steps_.stream(chain_, offset, Purpose::level);
    const auto words_of_colour = static_cast<std::uint32_t>((steps_.shape.sites + 63) / 64 * 64);
    bool moved = false;
    SALTUS_UNROLL
    for (int colour = 0; colour < 2; ++colour) {
      bool any = false;
      SALTUS_UNROLL
      for (int k = 0; k < kOwn; ++k) {
        const std::uint32_t sites = edges_[k].valid & (colour ? ~colour_[k] : colour_[k]);
        const std::uint32_t flips =
            draw_colour<Kind>(team_, steps_.law, memory_.table, codes_[k], sites,
                              colour ? words_of_colour : 0, Base::word(k), stream);
        x_[k] ^= flips;
        Base::publish(k, x_[k], colour);
        done_.changed += static_cast<std::uint32_t>(count_bits(flips));
        any = any || flips != 0;
      }
      moved = team_.any(any, Base::flags(static_cast<std::uint32_t>(colour))) || moved;
      SALTUS_UNROLL
      for (int k = 0; k < kOwn; ++k) codes_[k] = Base::codes(k, x_[k], colour);
    }
    done_.moved += moved;
  }

  std::uint32_t colour_[kWords];
  LatticeRecord done_{};  // since the last record
};

template <class Kind, class Team>
class SmallGibbsLattice : SmallLattice<Kind, Team> {
  using Base = SmallLattice<Kind, Team>;
  using Base::team_, Base::steps_, Base::chain_, Base::x_, Base::codes_;

 public:
  SALTUS_BOTH SmallGibbsLattice(const Team& team, const LatticeSteps& steps, const SiteEntry* table,
                                int chain)
      : Base(team, steps, chain),
        table_(table),
        colour_(~first_colour(steps.shape, 0) >> team.lane() & 1) {}

  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0, word = draw(0);
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) {
        const std::uint32_t next = draw(offset + 1);  // which need not wait for this sweep
        sweep(word);
        word = next;
      }
      Base::record(part, done_);
      done_ = {};
    }
    if (team_.lane() == 0) steps_.state(chain_)[0] = x_;
  }

 private:
  // Site i is number i / 2 of its colour, and those of a colour begin at a multiple of 64 words.
  SALTUS_BOTH std::uint32_t draw(std::uint32_t offset) const {
    const std::uint32_t block = 16 * colour_ + static_cast<std::uint32_t>(team_.lane()) / 2;
    return steps_.stream(chain_, offset, Purpose::level).block(block).words[0];
  }
  SALTUS_BOTH void sweep(std::uint32_t word) {
    std::uint32_t all = 0;
    SALTUS_UNROLL
    for (std::uint32_t colour = 0; colour < 2; ++colour) {
      const bool own = Base::is_site() && colour_ == colour;
      const std::uint32_t flips = team_.ballot(own && table_[Base::code(codes_)].flips(word));
      x_ ^= flips;
      all |= flips;
      codes_ = Base::codes(x_);
    }
    done_.changed += static_cast<std::uint32_t>(count_bits(all));
    done_.moved += all != 0;
  }

  const SiteEntry* table_;
  std::uint32_t colour_;
  LatticeRecord done_{};  // since the last record
};

}  // namespace saltus::cuda
