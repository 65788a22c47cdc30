// A checksum that recognises data: FNV-1a (Fowler, Noll & Vo) over 64 bits. No protection
// against data that were made to collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace saltus {

class Checksum {
 public:
  void add(std::uint64_t value) { value_ = (value_ ^ value) * 1099511628211u; }
  void add_bytes(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) add(bytes[i]);
  }
  std::uint64_t value() const { return value_; }

  // 16 digits.
  std::string text() const {
    std::string digits(16, '0');
    std::uint64_t rest = value_;
    for (std::size_t k = 16; k-- > 0; rest >>= 4) digits[k] = "0123456789abcdef"[rest & 15];
    return digits;
  }

 private:
  std::uint64_t value_ = 14695981039346656037u;
};

}  // namespace saltus
