// saltus models, saltus samplers: what there is, a line each.
#include <fmt/core.h>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {

void add_lists(CLI::App& program, int&) {
  program.add_subcommand("models", "List the built-in models")->callback([] {
    for (const BuiltInModel& m : built_in_models()) show("{:<15} {}\n", m.name, m.summary);
  });
  program
      .add_subcommand("samplers",
                      "List the samplers and their parameters. --sampler dmala+gwg: in turn")
      ->callback([] {
        for (const SamplerEntry& s : sampler_entries()) {
          std::string parameters;
          for (const std::string& p : s.parameters)
            parameters += (parameters.empty() ? "" : ", ") + p;
          show("{:<17} {} [{}]\n", s.name, s.summary, parameters);
        }
      });
}

}  // namespace saltus::cli
