// saltus merge: the file of one run from files of its parts.
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

void merge(const std::vector<std::string>& parts, const std::string& out) {
  std::string why;
  if (!can_write_draws(out, &why)) throw UsageError(why);
  FileRoles roles;
  for (const std::string& part : parts) roles.reads("FILE", part);
  roles.writes("--out", out);
  const auto draws = open_parts(parts);
  write_draws(out, *draws);
  show("{}: {} chains x {} draws of {} coordinates, from {} parts\n", out, draws->chains(),
       with_commas(draws->draws()), count(draws->dim()), parts.size());
}

}  // namespace

void add_merge(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand(
      "merge", "Join the draws of the parts of a run (sample --part, --out-per-rank)");
  auto parts = std::make_shared<std::vector<std::string>>();
  auto out = std::make_shared<std::string>();
  command->add_option("FILE", *parts, "The parts' draws, in any order: .nc or .npz")->required();
  command->add_option("--out", *out, "The file of the whole run: .nc, .npz or .csv")
      ->type_name("FILE")
      ->required();
  command->callback([parts, out] { merge(*parts, *out); });
}

}  // namespace saltus::cli
