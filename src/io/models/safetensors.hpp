// Arrays in safetensors files: the length of the header (8 bytes), the header as JSON, then the
// numbers, without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/byte_source.hpp"

namespace saltus {

struct Tensor {
  std::string type;  // "F32", ...
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes behind the header
};

class Safetensors {
 public:
  // Reads the header. Throws DataError unless the arrays fill the file one after the other, each
  // with the bytes that its shape takes.
  explicit Safetensors(ByteSource source);

  const std::string& name() const { return source_.name; }
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  const Tensor& tensor(const std::string& tensor) const;  // throws DataError when it is not there

  // The numbers of an array. Types F32, F16 and BF16 are exact in both; F64 is rounded in floats.
  // Throw DataError for other types.
  template <class Number>  // float or double
  std::vector<Number> numbers(const std::string& name) const;

 private:
  ByteSource source_;
  std::uint64_t data_ = 0;  // where the numbers begin
  std::map<std::string, Tensor> tensors_;
};

// The arrays of a model and the file that each is in.
using TensorFiles = std::map<std::string, std::shared_ptr<const Safetensors>>;

TensorFiles tensors_of(Safetensors file);
// model.safetensors, or the files beside it that model.safetensors.index.json names. Throws
// FileError and DataError.
TensorFiles open_tensors(const std::filesystem::path& folder);

}  // namespace saltus
