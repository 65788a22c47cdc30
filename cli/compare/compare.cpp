// saltus compare: a fair race between samplers on one model.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/compare/report.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

struct CompareCommand {
  ModelRequest model;
  std::string samplers = "all", out, seed = "1";
  RacePlan plan;
  bool json = false;
};

// "all", or names separated by commas.
std::vector<Contender> contenders_of(const std::string& text) {
  std::vector<Contender> list;
  if (text == "all") return list;
  for (const std::string& part : split_list(text)) list.push_back(parse_contender(part));
  return list;
}

void write_file(const std::string& path, const CompareReport& report) {
  const bool csv = std::filesystem::path(path).extension() == ".csv";
  replace_file(path, csv ? compare_csv(report) : compare_json(report).dump(2) + "\n");
}

void check_out(const std::string& out, const std::string& model,
               const std::map<std::string, std::string>& model_files = {}) {
  if (out.empty()) return;
  const std::string ending = std::filesystem::path(out).extension();
  if (ending != ".json" && ending != ".csv") {
    throw UsageError("--out " + out + ": a comparison is written as FILE.json or FILE.csv");
  }
  FileRoles roles;
  roles.reads("MODEL", model);
  roles.reads(model_files);
  roles.writes("--out", out);
}

int compare(CompareCommand command) {
  check_out(command.out, command.model.model);
  command.plan.seed = parse_seed(command.seed);
  command.plan.warmup_seconds = command.plan.seconds / 4;
  Model model = load_model(command.model);
  check_out(command.out, command.model.model, model.files);
  const CompareRequest request{shared_target(std::move(model)), contenders_of(command.samplers),
                               command.plan};
  const auto run = [&] {
    Progress progress(Progress::Elsewhere::nothing);
    return saltus::compare(request, [&](const std::string& label, int turn, int turns) {
      return progress.show(fmt::format("round {} of {}: {}", turn + 1, turns, label));
    });
  };
  const CompareResult result = run();
  if (!result.complete) return 128 + signal_seen();
  const CompareReport report{*request.target, request.plan, result};
  if (!command.out.empty()) write_file(command.out, report);
  command.json ? show_json(compare_json(report)) : print_comparison(report);
  return ok;
}

}  // namespace

void add_compare(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("compare", "Race samplers on a model");
  auto o = std::make_shared<CompareCommand>();
  add_model_options(*command, o->model);
  add_default(*command, "--samplers", o->samplers,
              "Names separated by commas, with parameters as NAME:KEY=VALUE")
      ->type_name("LIST|all");
  add_default(*command, "--budget", o->plan.seconds, "Seconds of drawing for each sampler",
              finite_number(1e-3));
  add_default(*command, "--chains", o->plan.chains, "Chains of each sampler",
              CLI::Range(2, 100'000));
  add_seed(*command, o->seed);
  add_threads(*command, o->plan.threads, "");
  command->add_option("--out", o->out, "Write the comparison: FILE.json or FILE.csv")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print the comparison as JSON, and nothing else");
  command->callback([o, &status] { status = compare(*o); });
}

}  // namespace saltus::cli
