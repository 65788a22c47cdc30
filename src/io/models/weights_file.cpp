#include "io/models/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  return {file.tensor(name).shape, file.numbers<double>(name)};
}

std::vector<double> read_shaped(const std::string& file, const std::string& name,
                                const std::vector<int>& shape) {
  NamedArray array = read_array(file, name);
  const std::vector<std::uint64_t> expected(shape.begin(), shape.end());
  if (array.shape == expected) return std::move(array.values);
  throw DataError(fmt::format("{}: {} has shape ({}); expected ({})", file, name,
                              fmt::join(array.shape, ", "), fmt::join(expected, ", ")));
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

ResnetEnergy read_resnet(JsonFields& fields) {
  constexpr int kMost = 4096;
  const auto size = [&](const char* field, int least) { return fields.size(field, least, kMost); };
  const ResnetShape shape{size("height", 1), size("width", 1), size("channels", 1),
                          size("blocks", 0), size("halvings", 0)};
  if (shape.halvings > shape.blocks) {
    fields.refuse("halvings",
                  fmt::format("is {}, but there are {} blocks", shape.halvings, shape.blocks));
  }
  const std::string file = fields.string("weights_file");
  ResnetEnergy energy{shape, {}, {}};
  for (const ParameterArray& array : parameter_arrays(shape)) {
    for (const double value : read_shaped(file, array.name, array.shape)) {
      energy.parameters.push_back(static_cast<float>(value));
    }
  }
  energy.base_mean = read_shaped(file, "base_mean", {shape.pixels()});
  try {
    check(energy);
  } catch (const DataError& error) {
    throw DataError(file + ": " + error.what());
  }
  return energy;
}

}  // namespace saltus
