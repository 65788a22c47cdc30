// The batch layout of saltus, stated once: row r is chain r of a tile, its entries are contiguous,
// and `stride` entries lie between the starts of two rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace saltus {

// The index of a level: a bit, a spin, a Potts state, an integer, a word piece. What an index means
// (0/1, -1/+1, 0..S-1, one-hot) is the domain's business.
using Symbol = std::uint16_t;

template <class T>
struct Rows {
  T* data = nullptr;
  int rows = 0, cols = 0, stride = 0;

  T* operator[](int r) const { return data + static_cast<std::ptrdiff_t>(r) * stride; }
  std::span<T> row(int r) const { return {(*this)[r], static_cast<std::size_t>(cols)}; }
  explicit operator bool() const { return data != nullptr; }
  operator Rows<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, stride};
  }
};

// Rows are stored with room up to the next multiple of this many entries, and passes over a row may
// read and write that room: 64 coordinates are handled together.
inline constexpr int kRowPadding = 64;

constexpr int padded(int cols) {
  return (cols + kRowPadding - 1) / kRowPadding * kRowPadding;
}

// Owns the memory behind a Rows: zero-initialised, padded, every row starts on a cache line.
template <class T>
class RowBuffer {
 public:
  RowBuffer() = default;
  RowBuffer(int rows, int cols) {
    const std::size_t count =
        static_cast<std::size_t>(rows) * static_cast<std::size_t>(padded(cols));
    memory_.reset(
        static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kAlignment})));
    std::uninitialized_value_construct_n(memory_.get(), count);
    view_ = {memory_.get(), rows, cols, padded(cols)};
  }
  Rows<T> view() const { return view_; }

 private:
  static constexpr std::size_t kAlignment = 64;
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<T, Free> memory_;
  Rows<T> view_;
};

}  // namespace saltus
