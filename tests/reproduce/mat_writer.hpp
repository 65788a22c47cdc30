// MATLAB files of version 5, for tests.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace saltus::mat {

inline std::string words(const std::vector<std::uint32_t>& list) {
  return {reinterpret_cast<const char*>(list.data()), 4 * list.size()};
}

template <class T>
std::string bytes(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), sizeof(T) * numbers.size()};
}

// A tag and its bytes, filled up to a multiple of eight; or both in one tag.
inline std::string part(std::uint32_t type, std::string content, bool small = false) {
  const auto size = static_cast<std::uint32_t>(content.size());
  if (small) {
    content.resize(4);
    return words({type | size << 16}) + content;
  }
  content.resize((content.size() + 7) / 8 * 8);
  return words({type, size}) + content;
}

struct Array {
  std::string name = "x";
  std::vector<std::uint32_t> dims = {2, 3};
  std::uint32_t kind = 6;  // double
  std::uint32_t type = 9;  // of the entries
  std::string entries = {};
  bool small = false;
};

inline std::string element(const Array& a) {
  return part(14, part(6, words({a.kind, 0})) + part(5, words(a.dims)) +
                      part(1, a.name, !a.name.empty() && a.name.size() <= 4) +
                      part(a.type, a.entries, a.small));
}

inline std::string packed(const std::string& element) {
  uLongf size = compressBound(element.size());
  std::string content(size, '\0');
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(content.data()), &size,
                      reinterpret_cast<const Bytef*>(element.data()), element.size(), 1),
            Z_OK);
  content.resize(size);
  return words({15, static_cast<std::uint32_t>(size)}) + content;
}

inline std::string file(const std::string& elements) {
  std::string header = "MATLAB 5.0 MAT-file, of a test";
  header.resize(124, ' ');
  return header + std::string("\0\1IM", 4) + elements;
}

}  // namespace saltus::mat
