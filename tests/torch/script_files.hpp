// TorchScript files for tests.
#pragma once

#include <torch/script.h>

#include <map>
#include <string>

#include "io/test_files.hpp"

namespace saltus {

using Tensors = std::map<std::string, at::Tensor>;

// A file of a module with these parameters and this definition, "def forward(self, x): ...".
inline std::filesystem::path script_file(const TestFolder& folder, const std::string& definition,
                                         const Tensors& parameters = {}) {
  torch::jit::Module module("script");
  for (const auto& [name, value] : parameters) module.register_parameter(name, value, false);
  module.define(definition + "\n");
  std::filesystem::path file = folder / "energy.pt";
  module.save(file.string());
  return file;
}

inline at::Tensor tensor_of(const std::vector<double>& values, std::vector<std::int64_t> shape) {
  return at::tensor(values, at::kFloat).view(shape);
}

}  // namespace saltus
