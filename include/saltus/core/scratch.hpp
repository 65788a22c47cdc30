// Scratch: memory that a step may use without allocating. It grows on first use and is then reused.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace saltus {

class Scratch {
 public:
  // `count` elements of T, uninitialised or left over; valid until the same slot is asked for
  // again. Slots are numbered by the code that owns the Scratch.
  template <class T>
  T* get(std::size_t slot, std::size_t count) {
    static_assert(alignof(T) <= 64);
    std::vector<Line>& memory = slots_.at(slot);
    const std::size_t lines = (count * sizeof(T) + sizeof(Line) - 1) / sizeof(Line);
    if (memory.size() < lines) memory.resize(lines);
    return reinterpret_cast<T*>(memory.data());
  }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  std::array<std::vector<Line>, 8> slots_;
};

}  // namespace saltus
