// Plain values and arrays as bytes, for checkpoints. Reading checks every length against what is
// left.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "saltus/core/error.hpp"

namespace saltus {

class ByteWriter {
 public:
  template <class... T>
  void put(const T&... values) {
    static_assert((std::is_trivially_copyable_v<T> && ...));
    (append(&values, sizeof values), ...);
  }
  template <class T>
  void put_array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(values.size());
    append(values.data(), values.size_bytes());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    if (size) std::memcpy(bytes_.data() + before, data, size);
  }
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    take(&value, sizeof value);
    return value;
  }
  // Reads what put(values...) wrote.
  template <class... T>
  void get(T&... values) {
    ((values = get<T>()), ...);
  }
  // Reads an array that must have exactly the size of `values`.
  template <class T>
  void get_array(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (get<std::size_t>() != values.size()) throw DataError("an array has the wrong length");
    take(values.data(), values.size_bytes());
  }
  // The length of the array that comes next, whose elements have `size` bytes; it does fit into
  // what is left.
  std::size_t next_array_length(std::size_t size) const {
    const auto length = ByteReader(rest_).get<std::size_t>();
    if (length > (rest_.size() - sizeof length) / size) throw DataError("it ends too early");
    return length;
  }
  bool empty() const { return rest_.empty(); }

 private:
  void take(void* to, std::size_t size) {
    if (size > rest_.size()) throw DataError("it ends too early");
    if (size) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  std::span<const std::byte> rest_;
};

}  // namespace saltus
