// The random numbers of saltus::Stream on the GPU: the same function of (seed, chain, step,
// purpose, index), number by number.
#pragma once

#include <cstdint>

#include "saltus/core/philox.hpp"

#ifdef __CUDACC__
#define SALTUS_BOTH __host__ __device__
#else
#define SALTUS_BOTH
#endif

namespace saltus::cuda {

struct Words {
  std::uint32_t of[4];
};

struct DeviceStream {
  std::uint32_t key0, key1, chain, step_low, step_high_and_purpose;

  SALTUS_BOTH DeviceStream(std::uint64_t seed, std::uint32_t chain_, std::uint64_t step,
                           Purpose purpose)
      : key0(static_cast<std::uint32_t>(seed)),
        key1(static_cast<std::uint32_t>(seed >> 32)),
        chain(chain_),
        step_low(static_cast<std::uint32_t>(step)),
        step_high_and_purpose(static_cast<std::uint32_t>(step >> 32) << 8 |
                              static_cast<std::uint32_t>(purpose)) {}

  // Philox 4x32-10; see saltus/core/philox.hpp.
  SALTUS_BOTH Words block(std::uint32_t b) const {
    std::uint32_t c0 = b, c1 = chain, c2 = step_low, c3 = step_high_and_purpose;
    std::uint32_t k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
      const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c0 = n0, c1 = static_cast<std::uint32_t>(p1);
      c2 = n2, c3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {{c0, c1, c2, c3}};
  }

  // Uniform on the open interval (0, 1), 53 bits; `index` counts blocks.
  SALTUS_BOTH double uniform(std::uint32_t index = 0) const {
    const Words w = block(index);
    const std::uint64_t bits = (std::uint64_t{w.of[0]} << 32 | w.of[1]) >> 11;
    const double u = (static_cast<double>(bits) + 0.5) * 0x1p-53;
    return u < 1 ? u : 1 - 0x1p-53;
  }
};

// Coordinate 64 g + 16 w + l takes word w of block 16 g + l (Stream::word): one block serves four
// coordinates.
inline SALTUS_BOTH int first_coordinate(int block) {
  return block / 16 * 64 + block % 16;
}
inline SALTUS_BOTH int blocks_of(int dim) {
  return (dim + 63) / 64 * 16;
}

}  // namespace saltus::cuda
