// Where models for tests are: mlm-tiny in the source, others in the folder SALTUS_MODELS.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/models/json_fields.hpp"
#include "io/test_files.hpp"

namespace saltus {

// Empty when it is not there.
inline std::filesystem::path model_folder(const std::string& model) {
  if (model == "mlm-tiny") return std::filesystem::path(SALTUS_SOURCE_FOLDER) / "models" / model;
  const char* folder = std::getenv("SALTUS_MODELS");
  if (!folder || !std::filesystem::exists(std::filesystem::path(folder) / model)) return {};
  return std::filesystem::path(folder) / model;
}

// What a float64 computation from the stored weights gives, "cases" of it.
inline nlohmann::json golden_cases(const std::string& model) {
  const auto file =
      std::filesystem::path(SALTUS_SOURCE_FOLDER) / "tests/text/data" / (model + ".golden.json");
  return parse_strictly(content_of(file), file.string())["cases"];
}

}  // namespace saltus
