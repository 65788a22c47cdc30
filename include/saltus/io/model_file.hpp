// Models in files, and a few built in by name. docs/formats.md describes the fields.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/core/device.hpp"
#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"
#include "saltus/model/problem.hpp"
#include "saltus/target/given_values.hpp"
#include "saltus/target/independent.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// The number by which the community of a file's format judges a state.
struct Objective {
  std::string name;  // "cut", say
  bool maximise = true;
  double beta = 1;     // log p is beta times it, or -beta times it where it is to be small
  bool whole = false;  // that of a state is a whole number

  double value(double logp) const { return (maximise ? logp : -logp) / beta + 0.0; }
  double logp(double value) const { return maximise ? beta * value : -beta * value; }
  // That of a state with this log p, computed in double precision.
  double of_state(double logp) const { return whole ? std::round(value(logp)) + 0.0 : value(logp); }
};

// How a file of another program's format is read, and the inverse temperature of any model.
struct ProblemOptions {
  std::string format;     // problem_format_names(); empty: by the file's name and its beginning
  double beta = 1;        // log p is multiplied by it
  bool maximise = false;  // x'Qx is to be large, where the file does not say
  std::string vartype;    // SPIN or BINARY, where the file does not say
  std::string problem;    // of a graph: max-cut, mis, max-clique, colouring or partition
  std::optional<double> penalty;
  int colours = 0, parts = 0;
  bool hard = false;  // every clause of a CNF must hold

  bool operator==(const ProblemOptions&) const = default;
};

// The whole model, where a target is the law of some coordinates given the others.
struct WholeModel {
  std::shared_ptr<const Target> target;  // of all coordinates
  GivenValues given;
  std::string text;  // as Model::text, of the model alone
};

struct Model {
  AnyModel value;                   // of all coordinates, also where some are given
  std::unique_ptr<Target> on_host;  // what `target` stands for, when that is on a device
  std::unique_ptr<Target> target;
  std::optional<Objective> objective;      // where the file is that of a problem
  std::shared_ptr<const Problem> problem;  // of graphs, where it says more than the objective
  std::vector<std::string> notes;          // what a user should know of how the file was read
  // What a checkpoint holds of it: the JSON that describes it, or, for a file of more than 1 MB or
  // of another format, its path and checksum.
  std::string text;
  // Other files that it was made from, by absolute path, with checksums of their contents.
  std::map<std::string, std::string> files;
  // Where values are given, which `target` has no coordinates for; otherwise null.
  std::shared_ptr<const WholeModel> whole;
};

// The values of all coordinates are given; log p of that state, which is then log Z as well.
struct NothingFree : UsageError {
  NothingFree(const std::string& what, double logp_there) : UsageError(what), logp(logp_there) {}
  double logp;
};

// model_base of the model's value, for the coordinates of its target; nothing under a constraint.
std::optional<Independent> base_of_target(const Model& model);
// The list of given values that a Model::text has, as GivenValues::text; empty: none.
std::string given_in_text(const std::string& model_text);

// A model's target, which keeps the model alive.
std::shared_ptr<const Target> shared_target(Model model);
// What the model's states mean: Model::problem, or how many clauses hold of a model that has
// clauses alone. Null for all others.
std::shared_ptr<const Problem> problem_of(const std::shared_ptr<const Model>& model);

struct NoModel : FileError {
  explicit NoModel(const std::string& what) : FileError(what, false) {}
};

struct ModelOptions {
  DeviceChoice device;
  bool scripts = true;  // TorchScript files may be run. They are programs: they can read and write
  ProblemOptions problem = {};
  // Known values of some coordinates, "3=1,7=0", or a file of such; docs/problems.md has the kinds.
  // The target is then the law of the other coordinates, given these. Where all are given,
  // load_model throws NothingFree.
  std::string given = {};
  std::string constraint = {};  // Constraint::parse: the target is restricted to it; empty: none
};

// What ProblemOptions::format can be.
std::vector<std::string> problem_format_names();

// A file, or a built-in name. Throws NoModel when there is neither, and DataError, naming the
// file, the field and the value, when the description does not fit; UsageError when the model or
// the device needs a part (libtorch, CUDA) that is not there, or has no room for the constraint.
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
Model read_model(const std::string& file_or_name, const ProblemOptions& options = {});

// Model::text without the constraint that it may hold beside the model.
std::string without_constraint(const std::string& model_text);

// Writes a model as JSON. The weights of a network and of a large RBM go into NAME.weights.npz
// beside it. Each file is the old one or the new one, never half of one. Throws FileError.
void write_model(const std::filesystem::path& path, const AnyModel& model);

// What may be left out of a problem file that cannot hold it.
struct ProblemWriting {
  std::string format;  // empty: by the name of the file
  bool drop_constant = false, drop_labels = false;
};

// Writes a model in the format of another program, as the energy -log p. Returns what was left out,
// in sentences. Throws DataError where the format cannot hold the model, UsageError where none has
// the name, and FileError.
std::vector<std::string> write_problem(const std::filesystem::path& path, const AnyModel& model,
                                       const ProblemWriting& writing = {});
// What ProblemWriting::format can be, and the endings of names that choose it.
std::string writable_problem_formats();
// Whether a file of this name is written by write_problem.
bool names_problem_file(const std::filesystem::path& path);

struct BuiltInModel {
  std::string name, summary, text;
};
const std::vector<BuiltInModel>& built_in_models();

}  // namespace saltus
