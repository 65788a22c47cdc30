// Plain values and arrays as bytes, for checkpoints. Reading checks every length against what is
// left.
//
// What belongs to single chains is written as a list of units, one for each chain or for each tile.
// So the parts of a run, which have some of the chains each, can be joined to the bytes that one
// process would have written, and each can read its own chains out of these.
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

  // A list of units: write one and call end_unit, any number of times. Lists are not nested.
  void begin_units() { units_begin_ = unit_begin_ = bytes_.size(); }
  void end_unit() {
    lengths_.push_back(bytes_.size() - unit_begin_);
    unit_begin_ = bytes_.size();
  }
  void end_units();

  std::span<const std::byte> bytes() const { return bytes_; }
  // The same with the places of the lists, for join_parts.
  std::vector<std::byte> part() const;

 private:
  void append(const void* data, std::size_t size) {
    const std::size_t before = bytes_.size();
    bytes_.resize(before + size);
    if (size) std::memcpy(bytes_.data() + before, data, size);
  }
  std::vector<std::byte> bytes_;
  std::size_t units_begin_ = 0, unit_begin_ = 0;
  std::vector<std::size_t> lengths_;  // of the units of the present list
  std::vector<std::size_t> lists_;    // where they begin
};

// What one process would have written, from ByteWriter::part of all parts in the order of their
// chains: the units of all, and the rest from the first.
std::vector<std::byte> join_parts(std::span<const std::vector<std::byte>> parts);

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  // Of the lists of units it reads those of the chains from number `first_chain` on, of `chains`.
  ByteReader(std::span<const std::byte> bytes, std::size_t first_chain, std::size_t chains)
      : rest_(bytes), first_chain_(first_chain), chains_(chains) {}
  // The same of the lists that come next.
  void read_chains(std::size_t first_chain, std::size_t chains) {
    first_chain_ = first_chain;
    chains_ = chains;
  }

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
  // Enters the next list and returns a reader of `count` of its units, which hold `chains_each`
  // chains each. Throws DataError where the list has another length.
  ByteReader units(std::size_t count, std::size_t chains_each = 1);
  bool empty() const { return rest_.empty(); }

 private:
  void take(void* to, std::size_t size) {
    if (size > rest_.size()) throw DataError("it ends too early");
    if (size) std::memcpy(to, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  std::span<const std::byte> rest_;
  std::size_t first_chain_ = 0, chains_ = 0;  // 0 chains: as many as are asked for
};

}  // namespace saltus
