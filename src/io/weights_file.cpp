#include "io/weights_file.hpp"

#include <cmath>
#include <cstring>
#include <memory>

#include "io/npy.hpp"
#include "io/strict_json.hpp"
#include "io/zip.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

NamedArray read_npz_array(const std::filesystem::path& file, const std::string& name) {
  const ZipReader zip(std::make_shared<InputFile>(file));
  if (!zip.has(name + ".npy"))
    throw DataError(file.string() + ": there is no array '" + name + "'");
  const NpyArray array = parse_npy(zip.open(name + ".npy"), file.string() + ": " + name);
  NamedArray out{array.shape, std::vector<double>(array.count())};
  array.read(0, std::span<double>(out.values));
  return out;
}

// A safetensors file: the header's length (8 bytes), the header as JSON, then the numbers.
struct Tensor {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

Tensor parse_tensor(const Json& entry, const std::string& where) {
  try {
    const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
    if (offsets.size() == 2 && offsets[0] <= offsets[1]) {
      return {entry.at("dtype").get<std::string>(),
              entry.at("shape").get<std::vector<std::uint64_t>>(), offsets[0], offsets[1]};
    }
  } catch (const Json::exception&) {
  }
  throw DataError(where + ": its entry in the header does not fit");
}

std::uint64_t entries(const Tensor& tensor, const std::string& where) {
  std::uint64_t count = 1;
  for (const std::uint64_t n : tensor.shape) {
    if (n != 0 && count > UINT32_MAX * std::uint64_t{16} / n)
      throw DataError(where + ": its shape is too large");
    count *= n;
  }
  return count;
}

template <class T>
std::vector<double> read_numbers(const InputFile& file, std::uint64_t offset, std::uint64_t count) {
  std::vector<T> raw(count);
  file.read(offset, raw.data(), count * sizeof(T));
  return {raw.begin(), raw.end()};
}

NamedArray read_safetensors_array(const std::filesystem::path& path, const std::string& name) {
  const InputFile file(path);
  const std::string where = path.string() + ": " + name;
  std::uint64_t length = 0;
  file.read(0, &length, sizeof length);
  if (length > kLongestHeader || length > file.size() - sizeof length) {
    throw DataError(path.string() + ": not a safetensors file");
  }
  std::string header(length, '\0');
  file.read(sizeof length, header.data(), header.size());
  const Json json = parse_strictly(header, path.string());
  if (!json.is_object() || !json.contains(name)) {
    throw DataError(path.string() + ": there is no array '" + name + "'");
  }
  const Tensor tensor = parse_tensor(json[name], where);
  const std::uint64_t count = entries(tensor, where), data = sizeof length + length;
  const std::uint64_t size = tensor.type == "F32" ? 4 : tensor.type == "F64" ? 8 : 0;
  if (size == 0)
    throw DataError(where + " is of type " + tensor.type + "; F32 and F64 can be read");
  if (tensor.end - tensor.begin != count * size || tensor.end > file.size() - data) {
    throw DataError(where + ": its numbers do not lie inside the file as its shape says");
  }
  return {tensor.shape, size == 4 ? read_numbers<float>(file, data + tensor.begin, count)
                                  : read_numbers<double>(file, data + tensor.begin, count)};
}

}  // namespace

NamedArray read_array(const std::filesystem::path& file, const std::string& name) {
  NamedArray array;
  if (file.extension() == ".npz") {
    array = read_npz_array(file, name);
  } else if (file.extension() == ".safetensors") {
    array = read_safetensors_array(file, name);
  } else {
    throw DataError(file.string() + ": a weights file is .npz or .safetensors");
  }
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    if (!std::isfinite(array.values[i])) {
      throw DataError(file.string() + ": " + name + " has an entry (number " + std::to_string(i) +
                      ") that is not finite");
    }
  }
  return array;
}

}  // namespace saltus
