// saltus models, saltus samplers: what there is, a line each. saltus convert: a model from one file
// format to another.
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.hpp"
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
};

void convert(const ConvertRequest& request) {
  if (lower_cased(std::filesystem::path(request.out).extension().string()) != ".json") {
    throw UsageError("OUT is " + request.out + "; models are written as JSON, to NAME.json");
  }
  const Model model = read_model(request.in);
  FileRoles roles;  // what is read must not be among what is written
  roles.reads("IN", request.in);
  roles.reads(model.files);
  roles.writes("OUT", request.out);
  roles.writes("weights of OUT", weights_beside(request.out).string());
  write_model(request.out, model.value);
}

}  // namespace

void add_convert(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand("convert", "Write a model to another file as JSON");
  auto request = std::make_shared<ConvertRequest>();
  command->add_option("IN", request->in, "Model file or built-in name")->required();
  command
      ->add_option("OUT", request->out,
                   "File to write; many weights go into NAME.weights.npz beside it")
      ->required();
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
