// Residual-network energies as model files: JSON with the shape, and a .npz file with the arrays.
#pragma once

#include <filesystem>

#include "io/models/json_fields.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus {

// Reads the fields of the model; `weights_file` is an absolute path. Throws FileError and
// DataError.
ResnetEnergy read_resnet(JsonFields& fields);

// Writes NAME.json and, beside it, NAME.weights.npz. Each file is the old one or the new one, never
// half of one. Throws FileError.
void write_resnet(const std::filesystem::path& path, const ResnetEnergy& energy);

}  // namespace saltus
