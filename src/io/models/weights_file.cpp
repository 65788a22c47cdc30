#include "io/models/weights_file.hpp"

#include <cmath>
#include <memory>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "io/models/safetensors.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

NamedArray read_npz_array(const std::filesystem::path& file, const std::string& name) {
  const ZipReader zip(std::make_shared<InputFile>(file));
  if (!zip.has(name + ".npy"))
    throw DataError(file.string() + ": there is no array '" + name + "'");
  const NpyArray array = parse_npy(zip.open(name + ".npy"), file.string() + ": " + name);
  NamedArray out{array.shape, std::vector<double>(array.count())};
  array.read(0, std::span<double>(out.values));
  return out;
}

NamedArray read_safetensors_array(const std::filesystem::path& path, const std::string& name) {
  const Safetensors file(file_bytes(path));
  return {file.tensor(name).shape, file.doubles(name)};
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

std::filesystem::path weights_beside(std::filesystem::path model) {
  return model.replace_extension(".weights.npz");
}

}  // namespace saltus
