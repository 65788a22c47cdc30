#include "cli/model_options.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/terminal.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

bool is_script(const std::string& model) {
  const std::filesystem::path ending = std::filesystem::path(model).extension();
  return ending == ".pt" || ending == ".pth";
}

// A script says nothing about its states; the model file that does.
std::string script_text(const ModelRequest& r) {
  const bool leveled = r.domain == "ordered" || r.domain == "categorical";
  if (r.domain.empty() || r.dim == 0 || (leveled && r.levels == 0)) {
    throw UsageError(
        r.model +
        " is a script: say what its states are, with --dim N and --domain binary, --domain spin, "
        "--domain ordered --levels S or --domain categorical --levels S");
  }
  if (!leveled && r.levels != 0) {
    throw UsageError("--levels has no place beside --domain " + r.domain +
                     ", which has two levels");
  }
  nlohmann::ordered_json model = {
      {"model", "torch"}, {"script", r.model}, {"domain", r.domain}, {"dim", r.dim}};
  if (leveled) model["levels"] = r.levels;
  return model.dump();
}

}  // namespace

ModelOptions ModelRequest::options() const {
  ModelOptions chosen{{parse_device(device), {}}, !no_scripts};
  if (!precision.empty()) chosen.device.precision = parse_precision(precision);
  return chosen;
}

void add_model_options(CLI::App& command, ModelRequest& r) {
  command.add_option("MODEL", r.model, "Model file, built-in name, or script FILE.pt")
      ->capture_default_str();
  command.add_option("--domain", r.domain, "States of a script")
      ->type_name("")
      ->check(CLI::IsMember({"binary", "spin", "ordered", "categorical"}));
  command.add_option("--dim", r.dim, "Coordinates of a script's states")
      ->check(CLI::Range(1, 100'000'000));
  command.add_option("--levels", r.levels, "Levels of each coordinate, ordered or categorical")
      ->check(CLI::Range(2, Domain::kMaxLevels));
  command.add_option("--device", r.device, "Where the model is computed")
      ->capture_default_str()
      ->type_name("cpu|cuda");
  command.add_option("--precision", r.precision, "Of a network on a GPU (default: by model)")
      ->type_name("single|tf32|half");
  command.add_flag("--no-scripts", r.no_scripts,
                   "Refuse models that run a TorchScript file: such a file is a program");
}

Model load_model(const ModelRequest& r) {
  const ModelOptions options = r.options();
  if (is_script(r.model)) return parse_model(script_text(r), r.model, {}, options);
  if (!r.domain.empty() || r.dim != 0 || r.levels != 0) {
    throw UsageError("--domain, --dim and --levels describe a script (FILE.pt); " + r.model +
                     " describes itself");
  }
  return load_model(r.model, options);
}

}  // namespace saltus::cli
