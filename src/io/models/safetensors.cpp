#include "io/models/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/bytes/npy.hpp"
#include "io/models/json_fields.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

using Json = nlohmann::json;
// The format allows 100 MB; the arrays of the largest published models take a few.
constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 24;
constexpr std::uint64_t kBlock = std::uint64_t{1} << 16;  // numbers converted at a time

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw DataError(where + ": " + why);
}

std::uint64_t bytes_per_number(const std::string& type) {
  static const std::map<std::string, std::uint64_t> sizes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
      {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
      {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

Tensor parse_tensor(const Json& entry, const std::string& where) {
  Tensor tensor;
  try {
    tensor.type = entry.at("dtype").get_ref<const std::string&>();
    for (const Json& n : entry.at("shape").get_ref<const Json::array_t&>()) {
      tensor.shape.push_back(n.get_ref<const Json::number_unsigned_t&>());
    }
    const auto& offsets = entry.at("data_offsets").get_ref<const Json::array_t&>();
    if (offsets.size() != 2) refuse(where, "its header has not two data_offsets");
    tensor.begin = offsets[0].get_ref<const Json::number_unsigned_t&>();
    tensor.end = offsets[1].get_ref<const Json::number_unsigned_t&>();
  } catch (const Json::exception&) {
    refuse(where, "its header needs dtype, shape and data_offsets, of whole numbers from 0 on");
  }
  const std::uint64_t size = bytes_per_number(tensor.type);
  if (tensor.begin > tensor.end ||
      (size > 0 && tensor.end - tensor.begin != byte_count(tensor.shape, size))) {
    refuse(where, "its numbers do not take the bytes that its shape says");
  }
  return tensor;
}

// One after the other up to the end of the file, as the format demands: nothing overlaps.
void check_layout(const std::map<std::string, Tensor>& tensors, std::uint64_t bytes,
                  const std::string& file) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;
  for (const auto& [name, tensor] : tensors) extents.emplace_back(tensor.begin, tensor.end);
  std::sort(extents.begin(), extents.end());
  std::uint64_t at = 0;
  for (const auto& [begin, end] : extents) {
    if (begin != at) refuse(file, "its arrays overlap or leave gaps");
    at = end;
  }
  if (at != bytes) {
    refuse(file, "its header tells of " + std::to_string(at) + " bytes of numbers, but there are " +
                     std::to_string(bytes));
  }
}

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 31, mantissa = bits & 0x3FF;
  if (exponent == 0) {  // 0 and subnormal numbers
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Numbers stored as Raw, each through `convert`.
template <class Raw, class Number, class Convert>
void read_numbers(const ByteSource& source, std::uint64_t offset, std::vector<Number>& out,
                  const Convert& convert) {
  std::vector<Raw> raw(std::min<std::uint64_t>(kBlock, out.size()));
  for (std::uint64_t first = 0; first < out.size(); first += raw.size()) {
    const std::uint64_t count = std::min<std::uint64_t>(raw.size(), out.size() - first);
    source.read(offset + first * sizeof(Raw), raw.data(), count * sizeof(Raw));
    for (std::uint64_t i = 0; i < count; ++i) out[first + i] = static_cast<Number>(convert(raw[i]));
  }
}

std::string read_all(const ByteSource& source, std::uint64_t at, std::uint64_t bytes) {
  std::string text(bytes, '\0');
  source.read(at, text.data(), text.size());
  return text;
}

// A file of the same folder, and no other.
bool plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string("/\0", 2)) == name.npos;
}

TensorFiles open_shards(const std::filesystem::path& index) {
  const ByteSource source = file_bytes(index);
  if (source.size > kLongestHeader) refuse(source.name, "it is too long for an index");
  const Json json = parse_strictly(read_all(source, 0, source.size), source.name);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (map == json.end() || !map->is_object()) refuse(source.name, "there is no weight_map");
  std::map<std::string, std::shared_ptr<const Safetensors>> shards;
  TensorFiles files;
  for (const auto& [name, value] : map->items()) {
    const std::string file = value.is_string() ? value.get<std::string>() : "";
    if (!plain_name(file)) {
      refuse(source.name, "weight_map names no file of this folder for '" + name + "'");
    }
    auto& shard = shards[file];
    if (!shard) {
      shard = std::make_shared<const Safetensors>(file_bytes(index.parent_path() / file));
    }
    shard->tensor(name);
    files[name] = shard;
  }
  return files;
}

}  // namespace

Safetensors::Safetensors(ByteSource source) : source_(std::move(source)) {
  std::uint64_t length = 0;
  if (source_.size >= sizeof length) source_.read(0, &length, sizeof length);
  if (source_.size < sizeof length || length > source_.size - sizeof length) {
    refuse(name(), "not a safetensors file");
  }
  if (length > kLongestHeader) refuse(name(), "its header is too long");
  data_ = sizeof length + length;
  const Json json = parse_strictly(read_all(source_, sizeof length, length), name());
  if (!json.is_object()) refuse(name(), "not a safetensors file");
  for (const auto& [tensor, entry] : json.items()) {
    if (tensor != "__metadata__") {
      tensors_[tensor] = parse_tensor(entry, name() + ": " + tensor);
    }
  }
  check_layout(tensors_, source_.size - data_, name());
}

const Tensor& Safetensors::tensor(const std::string& tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) refuse(name(), "there is no array '" + tensor + "'");
  return found->second;
}

template <class Number>
std::vector<Number> Safetensors::numbers(const std::string& name) const {
  const Tensor& tensor = this->tensor(name);
  const auto same = [](auto value) { return value; };
  const std::uint64_t offset = data_ + tensor.begin, size = bytes_per_number(tensor.type);
  std::vector<Number> out(size ? (tensor.end - tensor.begin) / size : 0);
  if (tensor.type == "F32") {
    read_numbers<float>(source_, offset, out, same);
  } else if (tensor.type == "F16") {
    read_numbers<std::uint16_t>(source_, offset, out, from_half);
  } else if (tensor.type == "BF16") {
    read_numbers<std::uint16_t>(source_, offset, out, from_bfloat16);
  } else if (tensor.type == "F64") {
    read_numbers<double>(source_, offset, out, same);
  } else {
    refuse(source_.name,
           name + " is of type " + tensor.type + "; F16, BF16, F32 and F64 can be read");
  }
  return out;
}
template std::vector<float> Safetensors::numbers(const std::string& name) const;
template std::vector<double> Safetensors::numbers(const std::string& name) const;

TensorFiles tensors_of(Safetensors file) {
  const auto shared = std::make_shared<const Safetensors>(std::move(file));
  TensorFiles files;
  for (const auto& [name, tensor] : shared->tensors()) files[name] = shared;
  return files;
}

TensorFiles open_tensors(const std::filesystem::path& folder) {
  const std::filesystem::path single = folder / "model.safetensors";
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  if (std::filesystem::exists(single, ignored)) return tensors_of(Safetensors(file_bytes(single)));
  if (std::filesystem::exists(index, ignored)) return open_shards(index);
  const bool pickled = std::filesystem::exists(folder / "pytorch_model.bin", ignored);
  throw FileError("'" + folder.string() + "' has no model.safetensors." +
                      (pickled ? " Its pytorch_model.bin cannot be read." : ""),
                  false);
}

}  // namespace saltus
