#include "cli/options.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/anneal/annealing.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/independent.hpp"
#include "service/whole.hpp"

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
  Json model = {{"model", "torch"}, {"script", r.model}, {"domain", r.domain}, {"dim", r.dim}};
  if (leveled) model["levels"] = r.levels;
  return model.dump();
}

}  // namespace

CLI::Validator finite_number(double least) {
  return CLI::Validator(
      [least](const std::string& text) -> std::string {
        const auto value = number_in<double>(text);
        return value && std::isfinite(*value) && *value >= least
                   ? ""
                   : "'" + text + "' is not a number that is possible here";
      },
      "NUMBER");
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const auto convert = [least, most](std::string& text) -> std::string {
    auto value = number_in<std::int64_t>(text);
    if (const auto real = number_in<double>(text);
        !value && real && *real == std::trunc(*real) && std::abs(*real) <= double{kMostSteps}) {
      value = static_cast<std::int64_t>(*real);
    }
    if (value && *value >= least && *value <= most) {
      text = std::to_string(*value);
      return "";
    }
    const auto number = [](std::int64_t n) { return with_commas(static_cast<std::uint64_t>(n)); };
    return "'" + text + "' is not possible here: expected a whole number from " + number(least) +
           (most == kMostSteps ? " on" : " to " + number(most));
  };
  return CLI::Validator(convert, "");
}

void add_seed(CLI::App& command, std::string& seed) {
  add_default(command, "--seed", seed, "Random seed, 0 to 2^64 - 1")->type_name("N");
}

std::uint64_t parse_seed(const std::string& text) {
  const auto seed = number_in<std::uint64_t>(text);
  if (!seed) throw UsageError("--seed " + text + ": expected a whole number from 0 to 2^64 - 1");
  return *seed;
}

void add_threads(CLI::App& command, int& threads, const char* never) {
  command
      .add_option(
          "--threads", threads,
          std::string("Threads (default: all cores)") + (*never ? "; never changes " : "") + never)
      ->transform(whole_number(1, 4096));
}

void add_settings(CLI::App& command, std::vector<std::string>& set, const char* more) {
  add_typed(command, "--set", set, std::string("Sampler parameter KEY=VALUE, repeatable") + more,
            "KEY=VALUE")
      ->allow_extra_args(false);
}

Settings parse_settings(const std::vector<std::string>& list) {
  Settings settings;
  for (const std::string& text : list) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError("--set " + text + ": expected KEY=VALUE");
    }
    if (!settings.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      throw UsageError("--set " + text + ": the parameter is given twice");
    }
  }
  return settings;
}

std::vector<double> read_numbers(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw FileError("cannot read " + path, false);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const char* separators = ", \t\r\n;";
  std::vector<double> numbers;
  for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::string entry = text.substr(at, end - at);
    const auto value = number_in<double>(entry);
    if (!value || !std::isfinite(*value)) {
      throw DataError(path + ": '" + entry.substr(0, 40) + "' is not a finite number");
    }
    numbers.push_back(*value);
    at = end;
  }
  return numbers;
}

std::vector<double> read_betas(const std::string& path) {
  std::vector<double> betas = read_numbers(path);
  try {
    check_betas(betas);
  } catch (const UsageError& e) {
    throw DataError(path + ": " + e.what());
  }
  return betas;
}

std::vector<double> read_probabilities(const std::string& path, const Domain& domain,
                                       const WholeModel* whole) {
  std::vector<double> probabilities = read_numbers(path);
  try {
    if (!domain.unbounded()) {
      Independent::with_probabilities(whole ? whole->given.domain() : domain, probabilities);
    }
    if (whole) return free_probabilities(probabilities, domain, whole->given);
  } catch (const DataError& e) {
    throw DataError(path + ": " + e.what());
  }
  return probabilities;
}

void add_data_folder(CLI::App& command, std::string& folder) {
  add_typed(command, "--data", folder, "Folder of data sets (default: $SALTUS_DATA)", "DIR");
}

bool was_given(const CLI::App& command, const char* option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found && found->count() > 0;
}

void refuse_settled(const CLI::App& command, std::initializer_list<const char*> options,
                    const std::string& where) {
  for (const char* option : options) {
    if (was_given(command, option)) {
      throw UsageError(std::string(option) + " is settled by the checkpoint " + where +
                       ": leave it out");
    }
  }
}

ModelOptions ModelRequest::options() const {
  ModelOptions chosen{{parse_device(device), {}}, !no_scripts, problem, given, constraint};
  if (!precision.empty()) chosen.device.precision = parse_precision(precision);
  return chosen;
}

void add_problem_options(CLI::App& command, ProblemOptions& o) {
  std::string formats;
  for (const std::string& name : problem_format_names()) {
    formats += (formats.empty() ? "" : ", ") + name;
  }
  add_typed(command, "--format", o.format,
            "Format of the file, where its name does not tell: " + formats, "NAME");
  add_default(command, "--beta", o.beta, "Inverse temperature: log p is multiplied by it")
      ->type_name("BETA")
      ->check(finite_number(1e-300));
  command.add_flag("--maximise", o.maximise,
                   "Of .bq and .qubo: the quadratic form is to be large, not small");
  add_typed(command, "--vartype", o.vartype,
            "Of .coo files that do not say it: what the variables are", "SPIN|BINARY")
      ->check(CLI::IsMember({"SPIN", "BINARY"}));
  add_typed(command, "--problem", o.problem,
            "Of graphs (.col, .clq, .mc): max-cut, mis, max-clique, colouring or partition; "
            "of .cnf: mis",
            "NAME");
  add_typed(command, "--penalty", o.penalty,
            "Of mis, max-clique and partition: how much a violation costs", "NUMBER")
      ->check(finite_number(0));
  command.add_option("--colours", o.colours, "Of colouring: how many")
      ->transform(whole_number(2, Domain::kMaxLevels));
  command.add_option("--parts", o.parts, "Of partition: how many")
      ->transform(whole_number(2, Domain::kMaxLevels));
  command.add_flag("--hard", o.hard,
                   "Of .cnf: every clause must hold, so that solutions alone are drawn");
}

void add_model_options(CLI::App& command, ModelRequest& r) {
  add_default(command, "MODEL", r.model, "Model file, built-in name, or script FILE.pt");
  command.add_option("--domain", r.domain, "States of a script")
      ->type_name("")
      ->check(CLI::IsMember({"binary", "spin", "ordered", "categorical"}));
  command.add_option("--dim", r.dim, "Coordinates of a script's states")
      ->transform(whole_number(1, 100'000'000));
  command.add_option("--levels", r.levels, "Levels of each coordinate, ordered or categorical")
      ->transform(whole_number(2, Domain::kMaxLevels));
  add_default(command, "--device", r.device, "Where the model is computed")->type_name("cpu|cuda");
  add_typed(command, "--precision", r.precision, "Of a network on a GPU (default: by model)",
            "single|tf32|half");
  command.add_flag("--no-scripts", r.no_scripts,
                   "Refuse models that run a TorchScript file: such a file is a program");
  add_typed(command, "--given", r.given,
            "Values that are known: COORDINATE=LEVEL,... or a file (.evid, .npy, .json, .png, "
            "text); the others are drawn given these",
            "LIST|FILE");
  add_typed(command, "--constrain", r.constraint,
            "Only states that keep it: sum=K, sum=LOW..HIGH, parity=even, parity=odd or "
            "one-hot=0-3,4-7,... (upper levels count)",
            "RULE");
  add_problem_options(command, r.problem);
}

Model load_model(const ModelRequest& r) {
  const ModelOptions options = r.options();
  if (is_script(r.model)) {
    if (!(r.problem == ProblemOptions{})) {
      throw UsageError("the options of problem files have no place beside " + r.model +
                       ", a script");
    }
    return parse_model(script_text(r), r.model, {}, options);
  }
  if (!r.domain.empty() || r.dim != 0 || r.levels != 0) {
    throw UsageError("--domain, --dim and --levels describe a script (FILE.pt); " + r.model +
                     " describes itself");
  }
  Model model = load_model(r.model, options);
  if (leads()) {
    for (const std::string& note : model.notes) say("Note: {}.\n", note);
  }
  return model;
}

std::string model_words(const ModelRequest& r) {
  std::string words = shell_word(r.model);
  const auto add = [&](const char* option, const std::string& value) {
    words += std::string(" ") + option + " " + shell_word(value);
  };
  if (!r.domain.empty()) add("--domain", r.domain);
  if (r.dim > 0) add("--dim", std::to_string(r.dim));
  if (r.levels > 0) add("--levels", std::to_string(r.levels));
  if (r.device != "cpu") add("--device", r.device);
  if (!r.precision.empty()) add("--precision", r.precision);
  if (!r.given.empty()) add("--given", r.given);
  if (!r.constraint.empty()) add("--constrain", r.constraint);
  return words;
}

std::string sampler_words(const std::string& sampler, const Settings& settings) {
  std::string words = " --sampler " + shell_word(sampler);
  for (const auto& [key, value] : settings) words += " --set " + shell_word(key + "=" + value);
  return words;
}

void RunControl::add_options(CLI::App& command, const Texts& texts) {
  command.add_flag("--json", json, "Print the summary as JSON, and nothing else");
  add_typed(command, "--checkpoint", checkpoint, texts.checkpoint, "FILE");
  add_default(command, "--checkpoint-every", checkpoint_every, "Seconds between checkpoints",
              finite_number(0));
  add_typed(command, "--resume", resume, texts.resume, "FILE");
  command.add_flag("--overwrite", overwrite,
                   "Replace the checkpoint of an earlier run that is in --checkpoint FILE");
  add_typed(command, "--time", time_limit, texts.time, "SECONDS")->check(finite_number(1e-9));
}

void RunControl::claim_files() {
  if (checkpoint.empty()) checkpoint = resume;
  if (!checkpoint.empty()) set_how_to_continue("--resume " + shell_word(checkpoint));
  if (leads()) files = std::make_shared<RunFiles>(checkpoint, resume, overwrite);
}

}  // namespace saltus::cli
