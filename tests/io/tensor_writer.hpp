// safetensors files for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace saltus {

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A file of a header, whatever it says, and bytes behind it.
inline std::string with_header(const std::string& header, const std::string& numbers) {
  return bytes_of(std::vector<std::uint64_t>{header.size()}) + header + numbers;
}

struct WrittenTensor {
  std::string name, type;
  std::vector<std::int64_t> shape;
  std::string numbers;
};

inline std::string safetensors(const std::vector<WrittenTensor>& tensors) {
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string numbers;
  for (const WrittenTensor& t : tensors) {
    header[t.name] = {{"dtype", t.type},
                      {"shape", t.shape},
                      {"data_offsets", {numbers.size(), numbers.size() + t.numbers.size()}}};
    numbers += t.numbers;
  }
  return with_header(header.dump() + "  ", numbers);
}

}  // namespace saltus
