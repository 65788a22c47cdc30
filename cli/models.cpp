// saltus models, saltus samplers: what there is, a line each. saltus convert: a model from one file
// format to another.
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "io/bytes/words.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {
namespace {

struct ConvertRequest {
  std::string in, out;
  ProblemOptions problem;
  ProblemWriting writing;
};

// Saltus's own JSON, by --to or the name; throws UsageError where neither tells a format.
bool is_json(const ConvertRequest& r) {
  if (!r.writing.format.empty()) return r.writing.format == "json";
  if (names_problem_file(r.out)) return false;
  if (lower_cased(std::filesystem::path(r.out).extension().string()) == ".json") return true;
  throw UsageError("OUT is " + r.out + ", whose name tells no format; expected " +
                   writable_problem_formats());
}

void convert(const ConvertRequest& request) {
  const bool json = is_json(request);
  if (json && (request.writing.drop_constant || request.writing.drop_labels)) {
    throw UsageError("nothing need be dropped: JSON model files hold constants and labels");
  }
  const Model model = read_model(request.in, request.problem);
  for (const std::string& note : model.notes) say("Note: {}.\n", note);
  FileRoles roles;  // what is read must not be among what is written
  roles.reads("IN", request.in);
  roles.reads(model.files);
  roles.writes("OUT", request.out);
  if (json) {
    roles.writes("weights of OUT", weights_beside(request.out).string());
    return write_model(request.out, model.value);
  }
  for (const std::string& left_out : write_problem(request.out, model.value, request.writing)) {
    say("{}\n", left_out);
  }
}

}  // namespace

void add_convert(CLI::App& program, int&) {
  CLI::App* command =
      program.add_subcommand("convert", "Write a model to a file of another format");
  auto request = std::make_shared<ConvertRequest>();
  command->add_option("IN", request->in, "Model file or built-in name")->required();
  command
      ->add_option("OUT", request->out,
                   "File to write; many weights go into NAME.weights.npz beside it")
      ->required();
  add_typed(*command, "--to", request->writing.format,
            "Format of OUT (default: by its name): " + writable_problem_formats(), "NAME");
  command->add_flag("--drop-constant", request->writing.drop_constant,
                    "Leave out a constant of the energy that the format cannot hold");
  command->add_flag("--drop-labels", request->writing.drop_labels,
                    "Leave out labels that the format cannot hold");
  add_problem_options(*command, request->problem);
  command->callback([request] { convert(*request); });
}

void add_lists(CLI::App& program, int&) {
  program.add_subcommand("models", "List the built-in models")->callback([] {
    for (const BuiltInModel& m : built_in_models()) show("{:<15} {}\n", m.name, m.summary);
  });
  program
      .add_subcommand("samplers",
                      "List the samplers and their parameters. --sampler dmala+gwg: in turn")
      ->callback([] {
        for (const SamplerEntry& s : sampler_entries()) {
          show("{:<17} {} [{}]\n", s.name, s.summary, fmt::join(s.parameters, ", "));
        }
      });
}

}  // namespace saltus::cli
