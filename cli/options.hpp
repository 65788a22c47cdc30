// Options that several subcommands share: the model, numbers with their limits, sampler parameters,
// and how a long command saves itself.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "cli/run_files.hpp"
#include "core/number_text.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/pacer.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {

// A finite number that is not below `least`; CLI11's own ranges let NaN pass.
CLI::Validator finite_number(double least);
inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;
// A whole number in a range, also written as 1e5; for Option::transform.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);
inline CLI::Validator steps_from(std::int64_t least) {
  return whole_number(least, kMostSteps);
}

// An option whose default help shows.
template <class T>
CLI::Option* add_default(CLI::App& command, const char* name, T& value, const std::string& text) {
  return command.add_option(name, value, text)->capture_default_str();
}
template <class T>
CLI::Option* add_default(CLI::App& command, const char* name, T& value, const std::string& text,
                         const CLI::Validator& check) {
  return add_default(command, name, value, text)->transform(check);
}

// An option that help calls `type`.
template <class T>
CLI::Option* add_typed(CLI::App& command, const char* name, T& value, const std::string& text,
                       const char* type) {
  return command.add_option(name, value, text)->type_name(type);
}

// --seed, as a text for parse_seed, which throws UsageError.
void add_seed(CLI::App& command, std::string& seed);
std::uint64_t parse_seed(const std::string& text);
// --threads; `never` is what their number does not change.
void add_threads(CLI::App& command, int& threads, const char* never);
// --set; `more` is said of its texts, which parse_settings takes. It throws UsageError.
void add_settings(CLI::App& command, std::vector<std::string>& set, const char* more = "");
Settings parse_settings(const std::vector<std::string>& list);
// Numbers of a file, separated by blanks, commas or line ends; and such as increase from 0 to 1.
// Throw FileError and DataError.
std::vector<double> read_numbers(const std::string& path);
std::vector<double> read_betas(const std::string& path);
// Such as Independent::with_probabilities takes for the domain. Where values are given, the file
// has those of all coordinates, and the domain is that of the free ones.
std::vector<double> read_probabilities(const std::string& path, const Domain& domain,
                                       const WholeModel* whole);
void add_data_folder(CLI::App& command, std::string& folder);

bool was_given(const CLI::App& command, const char* option);

// Throws UsageError where one of the options was given, which the checkpoint `where` settles.
void refuse_settled(const CLI::App& command, std::initializer_list<const char*> options,
                    const std::string& where);

// Which model a subcommand works on, and where it is computed.
struct ModelRequest {
  std::string model = "ising-lattice";  // file or name
  std::string domain;                   // of a script
  int dim = 0, levels = 0;
  std::string device = "cpu", precision;
  bool no_scripts = false;
  ProblemOptions problem;  // of files of other programs
  std::string given;       // values of some coordinates, or a file of such
  std::string constraint;  // to which the states are restricted

  ModelOptions options() const;  // throws UsageError
};

void add_model_options(CLI::App& command, ModelRequest& request);
// How a file of another program's format is read: a part of the model options.
void add_problem_options(CLI::App& command, ProblemOptions& options);

// Throws UsageError, FileError, DataError.
Model load_model(const ModelRequest& request);

// The model as words of a command, and a sampler: " --sampler gwg --set flips=2".
std::string model_words(const ModelRequest& request);
std::string sampler_words(const std::string& sampler, const Settings& settings);

// Options that say where a long command is saved, continued and stopped. They do not determine the
// draws or the model.
struct RunControl : Saving {
  bool json = false;
  std::shared_ptr<RunFiles> files;  // locks them

  struct Texts {
    const char *checkpoint, *resume, *time;
  };
  void add_options(CLI::App& command, const Texts& texts);

  // Locks the files; call it before reading a checkpoint. A resumed command saves where it was
  // saved before, unless --checkpoint names another file.
  void claim_files();
};

}  // namespace saltus::cli
