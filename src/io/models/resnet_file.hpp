// Residual-network energies as model files: JSON with the shape, and a .npz file with the arrays.
#pragma once

#include "io/models/json_fields.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus {

// Reads the fields of the model; `weights_file` is an absolute path. Throws FileError and
// DataError.
ResnetEnergy read_resnet(JsonFields& fields);

}  // namespace saltus
