// Models in files, and a few built in by name. docs/formats.md describes the fields.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/core/device.hpp"
#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// The number by which the community of a file's format judges a state, as a function of log p.
struct Objective {
  std::string name;  // "cut", say
  bool maximise = true;
  double constant = 0;

  double value(double logp) const { return maximise ? constant + logp : constant - logp; }
  double logp(double value) const { return maximise ? value - constant : constant - value; }
};

struct Model {
  AnyModel value;
  std::unique_ptr<Target> on_host;  // what `target` stands for, when that is on a device
  std::unique_ptr<Target> target;
  std::optional<Objective> objective;  // where the file is that of a problem
  // What a checkpoint holds of it: the JSON that describes it, or, for a file of more than 1 MB or
  // of another format, its path and checksum.
  std::string text;
  // Other files that it was made from, by absolute path, with checksums of their contents.
  std::map<std::string, std::string> files;
};

// A model's target, which keeps the model alive.
std::shared_ptr<const Target> shared_target(Model model);

struct NoModel : FileError {
  explicit NoModel(const std::string& what) : FileError(what, false) {}
};

struct ModelOptions {
  DeviceChoice device;
  bool scripts = true;  // TorchScript files may be run. They are programs: they can read and write
};

// A file, or a built-in name. Throws NoModel when there is neither, and DataError, naming the
// file, the field and the value, when the description does not fit; UsageError when the model or
// the device needs a part (libtorch, CUDA) that is not there.
Model load_model(const std::string& file_or_name, const ModelOptions& options = {});

// From JSON text; `source` names it in messages. Files that it names lie relative to `folder`.
Model parse_model(const std::string& text, const std::string& source,
                  const std::filesystem::path& folder = {}, const ModelOptions& options = {});

// From Model::text, as `source` (a checkpoint) holds it. Throws DataError when the model file is
// another one now.
Model load_saved_model(const std::string& text, const std::string& source,
                       const ModelOptions& options = {});

// As load_model, without a target and without checksums: no part that computes is loaded, and no
// script is run.
Model read_model(const std::string& file_or_name);

// Writes a model as JSON. The weights of a network and of a large RBM go into NAME.weights.npz
// beside it. Each file is the old one or the new one, never half of one. Throws FileError.
void write_model(const std::filesystem::path& path, const AnyModel& model);

struct BuiltInModel {
  std::string name, summary, text;
};
const std::vector<BuiltInModel>& built_in_models();

}  // namespace saltus
