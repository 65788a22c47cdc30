// log p from a TorchScript file.
#pragma once

#include <filesystem>
#include <memory>

#include "saltus/torch/module.hpp"
#include "torch/network_target.hpp"

namespace saltus {

std::unique_ptr<Target> make_script_target(const std::filesystem::path& file, const Domain& domain,
                                           const DeviceChoice& choice);

}  // namespace saltus
