// Random words of 64 chains at one step: the same block of each, in lanes. Compiled once per
// instruction set.
//
// A counter is (block, chain, step), and only the chain differs between lanes. The first two of
// Philox's ten rounds therefore have one product per chain that all blocks share, and the third has
// one of its two; the rest of them are the same for all chains. Chains lie in lanes of 64 bits,
// whose upper halves multiplication ignores, so that products need no sorting between rounds.
#pragma once

#include "ops/ops.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

class ChainBlocks {
 public:
  static constexpr int kChains = 64, kRegisters = kChains / kWidth;

  // The first chain is that of the stream, which is referred to, with `add` added.
  void start(const Stream& stream, uint32_t add) {
    stream_ = &stream;
    first_ = stream.chain + add;
    const Product step = product(kM1, stream.step_low);
    step_low_ = step.low;
    for (int r = 0; r < kRegisters; ++r) {
      const uint32_t first = first_ + static_cast<uint32_t>(r * kWidth);
      const Word c0 = ((Word)lanes_from_zero() + first) ^ (step.high ^ stream.key0);
      even_[r] = times(kM0, (Wide)c0);
      odd_[r] = times(kM0, (Wide)c0 >> 32);
    }
  }

  // The words of chains kWidth r, kWidth r + 1, ... of the 64.
  void words(uint32_t block, int r, Word out[4]) const {
    const SharedPart shared = first_rounds(block);
    Wide even[4], odd[4];
    last_rounds(shared, even_[r], even);
    last_rounds(shared, odd_[r], odd);
    for (int w = 0; w < 4; ++w) out[w] = (Word)((even[w] & 0xFFFFFFFFu) | odd[w] << 32);
  }
  // A single word. (Stream::block is a function that the linker could share between the instruction
  // sets.)
  uint32_t word(uint32_t block, uint32_t chain, uint32_t w) const {
    uint32_t c[4] = {block, first_ + chain, stream_->step_low, stream_->step_high_and_purpose};
    uint32_t k0 = stream_->key0, k1 = stream_->key1;
    for (int round = 0; round < 10; ++round) {
      const Product p0 = product(kM0, c[0]), p1 = product(kM1, c[2]);
      c[0] = p1.high ^ c[1] ^ k0;
      c[1] = p1.low;
      c[2] = p0.high ^ c[3] ^ k1;
      c[3] = p0.low;
      k0 += kAdd0;
      k1 += kAdd1;
    }
    return c[w];
  }

 private:
  static constexpr uint32_t kM0 = 0xD2511F53u, kM1 = 0xCD9E8D57u, kAdd0 = 0x9E3779B9u,
                            kAdd1 = 0xBB67AE85u;
  struct Product {
    uint32_t high, low;
  };
  static Product product(uint32_t a, uint32_t b) {
    const uint64_t p = uint64_t{a} * b;
    return {static_cast<uint32_t>(p >> 32), static_cast<uint32_t>(p)};
  }
  static Wide times(uint32_t m, Wide c) { return multiply_even(Word{} + m, (Word)c); }

  // What goes into the third round, for all chains.
  struct SharedPart {
    uint32_t to_c2;  // makes word 2 of a product's upper half
    uint32_t to_c0;  // the same of the third round's
    Product of_c0;   // the third round's product of word 0
  };
  SharedPart first_rounds(uint32_t block) const {
    const Product one = product(kM0, block);
    const uint32_t c2 = one.high ^ stream_->step_high_and_purpose ^ stream_->key1;
    const Product two = product(kM1, c2);
    const uint32_t c0 = two.high ^ step_low_ ^ (stream_->key0 + kAdd0);
    return {one.low ^ (stream_->key1 + kAdd1), two.low ^ (stream_->key0 + 2 * kAdd0),
            product(kM0, c0)};
  }

  void last_rounds(const SharedPart& shared, Wide first, Wide c[4]) const {
    uint32_t k0 = stream_->key0 + 3 * kAdd0, k1 = stream_->key1 + 2 * kAdd1;
    const Wide third = times(kM1, first >> 32 ^ shared.to_c2);
    c[0] = third >> 32 ^ shared.to_c0;
    c[1] = third;
    c[2] = first ^ (shared.of_c0.high ^ k1);
    c[3] = Wide{} + shared.of_c0.low;
#pragma GCC unroll 7
    for (int round = 3; round < 10; ++round) {
      k1 += kAdd1;
      const Wide p0 = times(kM0, c[0]), p1 = times(kM1, c[2]);
      c[0] = p1 >> 32 ^ c[1] ^ k0;
      c[1] = p1;
      c[2] = p0 >> 32 ^ c[3] ^ k1;
      c[3] = p0;
      k0 += kAdd0;
    }
  }

  const Stream* stream_;
  uint32_t first_, step_low_;
  Wide even_[kRegisters], odd_[kRegisters];  // the second round's products
};

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
