// Named arrays of numbers from .npz (NumPy) and .safetensors files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/models/json_fields.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus {

struct NamedArray {
  std::vector<std::uint64_t> shape;
  std::vector<double> values;
};

// Reads one array, whole. Throws FileError when the file cannot be opened, and DataError, naming
// the file and the array, when it is not there, damaged, not finite, or of an unknown type.
NamedArray read_array(const std::filesystem::path& file, const std::string& name);

// Where the weights of a model file go that are too many for it: MODEL.weights.npz.
std::filesystem::path weights_beside(std::filesystem::path model);

// A residual network whose arrays lie in such a file: reads the fields of its model file, of which
// `weights_file` is an absolute path. Throws FileError and DataError.
ResnetEnergy read_resnet(JsonFields& fields);

}  // namespace saltus
