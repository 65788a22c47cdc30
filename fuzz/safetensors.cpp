// Any bytes as a safetensors file: refused, or arrays of the shapes that are told, which do not
// share a byte.
#include "io/models/safetensors.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "saltus/core/error.hpp"

namespace {

std::uint64_t count_of(const saltus::Tensor& tensor) {
  std::uint64_t count = 1;
  for (const std::uint64_t n : tensor.shape) count *= n;
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  try {
    const saltus::Safetensors file(saltus::memory_bytes(bytes, "fuzz.safetensors"));
    std::uint64_t all = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      all += tensor.end - tensor.begin;
      try {
        const std::vector<float> floats = file.numbers<float>(name);
        const std::vector<double> doubles = file.numbers<double>(name);
        if (floats.size() != count_of(tensor) || doubles.size() != floats.size()) std::abort();
      } catch (const saltus::DataError&) {  // of a type that is not read
      }
    }
    if (all > size) std::abort();
  } catch (const saltus::DataError&) {
  }
  return 0;
}
