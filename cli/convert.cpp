// saltus convert: a model from one file format to another.
#include <cctype>
#include <memory>

#include "cli/commands.hpp"
#include "cli/run_files.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus::cli {
namespace {

struct ConvertRequest {
  std::string in, out;
};

// What is read must not be among what is written.
void check_files(const ConvertRequest& request, const Model& model) {
  FileRoles roles;
  roles.reads("IN", request.in);
  roles.reads(model.files);
  roles.writes("OUT", request.out);
  roles.writes("weights of OUT", weights_beside(request.out).string());
}

void convert(const ConvertRequest& request) {
  std::string ending = std::filesystem::path(request.out).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending != ".json") {
    throw UsageError("OUT is " + request.out + "; models are written as JSON, to NAME.json");
  }
  const Model model = read_model(request.in);
  check_files(request, model);
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

}  // namespace saltus::cli
