#include "io/models/resnet_file.hpp"

#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::vector<double> read_shaped(const std::string& file, const std::string& name,
                                const std::vector<int>& shape) {
  NamedArray array = read_array(file, name);
  const std::vector<std::uint64_t> expected(shape.begin(), shape.end());
  if (array.shape == expected) return std::move(array.values);
  const auto text = [](const std::vector<std::uint64_t>& sizes) {
    std::string list;
    for (const std::uint64_t n : sizes) list += (list.empty() ? "" : ", ") + std::to_string(n);
    return "(" + list + ")";
  };
  throw DataError(file + ": " + name + " has shape " + text(array.shape) + "; expected " +
                  text(expected));
}

}  // namespace

ResnetEnergy read_resnet(JsonFields& fields) {
  constexpr std::int64_t kMost = 4096;
  const auto size = [&](const char* field, std::int64_t least) {
    return static_cast<int>(fields.integer(fields.at(field), field, least, kMost));
  };
  const ResnetShape shape{size("height", 1), size("width", 1), size("channels", 1),
                          size("blocks", 0), size("halvings", 0)};
  if (shape.halvings > shape.blocks) {
    fields.refuse("halvings", "is " + std::to_string(shape.halvings) + ", but there are " +
                                  std::to_string(shape.blocks) + " blocks");
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
