// Models as JSON: files, and a few built in by name. docs/formats.md describes the fields.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "saltus/target/target.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {

struct Model {
  std::unique_ptr<Target> on_host;  // what `target` stands for, when that is on a device
  std::unique_ptr<Target> target;
  std::string text;  // the JSON that describes it, complete
  // Other files that it was made from, by absolute path, with checksums of their contents.
  std::map<std::string, std::string> files;
};

struct ModelOptions {
  DeviceChoice device;
  bool scripts = true;  // TorchScript files may be run. They are programs: they can read and write
};

// A file, or a built-in name. Throws FileError when there is neither, and DataError, naming the
// file, the field and the value, when the description does not fit; UsageError when the model or
// the device needs libtorch and there is none.
Model load_model(const std::string& file_or_name, const ModelOptions& options = {});

// From JSON text; `source` names it in messages. Files that it names lie relative to `folder`.
Model parse_model(const std::string& text, const std::string& source,
                  const std::filesystem::path& folder = {}, const ModelOptions& options = {});

struct BuiltInModel {
  std::string name, summary, text;
};
const std::vector<BuiltInModel>& built_in_models();

}  // namespace saltus
