// saltus compare: a fair race between samplers on one model.
#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/compare/report.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_options.hpp"
#include "cli/option_checks.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus::cli {
namespace {

// State evaluations times coordinates up to which exact answers are computed.
constexpr double kExactWork = 1e9;

struct CompareRequest {
  ModelRequest model;
  std::string samplers = "all", out, seed = "1";
  RacePlan plan;
  bool json = false;
};

// "all", or names separated by commas.
std::vector<Contender> contenders_of(const std::string& text, const Target& target) {
  std::vector<Contender> all = all_contenders(target);
  if (text == "all") return all;
  std::vector<Contender> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    Contender c = parse_contender(text.substr(at, comma - at));
    // A bare name stands for the parameters that suit a race.
    for (const Contender& known : all) {
      if (known.sampler == c.sampler && c.settings.empty()) c = known;
    }
    make_sampler(c.sampler, target, c.settings);  // refuses what does not fit, before the race
    list.push_back(std::move(c));
    at = comma + 1;
  }
  return list;
}

// A line on the terminal that says whose turn it is; silent elsewhere.
class RaceLine {
 public:
  bool operator()(const std::string& label, int turn, int turns) {
    line_.show(fmt::format("round {} of {}: {}", turn + 1, turns, label));
    return !signal_seen();
  }
  void clear() { line_.clear(); }

 private:
  StatusLine line_;
};

// The bias of unadjusted samplers where it can be computed, and everyone's error where the exact
// means are known.
void add_exact_answers(CompareReport& report) {
  const Target& target = report.target;
  const Domain& domain = target.domain();
  report.error.assign(report.results.size(), NAN);
  report.bias.assign(report.results.size(), NAN);
  if (target.stochastic() || domain.unbounded()) return;
  if (!domain.states(static_cast<std::uint64_t>(kExactWork / domain.dim()))) return;
  report.exact = exact_answer(target, report.plan.threads);
  std::optional<StateTable> table;
  if (domain.states(StateTable::kMostStates)) table.emplace(target);
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    const RaceResult& r = report.results[i];
    std::vector<double> exact;
    for (int c : r.coordinates) exact.push_back(report.exact->means[static_cast<std::size_t>(c)]);
    report.error[i] = rmse(r.estimate.mean, exact);
    if (r.exact || !r.enumerable || !table) continue;
    Settings settings = r.contender.settings;
    for (const Parameter& p : r.parameters) {  // as tuned
      if (const double* v = std::get_if<double>(&p.value); v && p.name.ends_with("step_size")) {
        settings[p.name] = fmt::format("{}", *v);
      }
    }
    const auto sampler = make_sampler(r.contender.sampler, target, settings);
    report.bias[i] = check_transitions(*sampler, *table).l1;
  }
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

int compare(CompareRequest request) {
  check_out(request.out, request.model.model);
  request.plan.seed = parse_seed(request.seed);
  const Model model = load_model(request.model);
  check_out(request.out, request.model.model, model.files);
  const std::vector<Contender> contenders = contenders_of(request.samplers, *model.target);
  request.plan.warmup_seconds = request.plan.seconds / 4;
  const auto start = std::chrono::steady_clock::now();
  RaceLine line;
  catch_interrupts();
  CompareReport report{*model.target,
                       request.plan,
                       race(*model.target, contenders, request.plan, std::ref(line)),
                       {},
                       {},
                       std::nullopt,
                       0};
  line.clear();
  stop_catching_interrupts();
  if (signal_seen()) return 128 + signal_seen();
  add_exact_answers(report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!request.out.empty()) write_file(request.out, report);
  if (request.json) {
    show_json(compare_json(report));
  } else {
    print_comparison(report);
  }
  return ok;
}

}  // namespace

void add_compare(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("compare", "Race samplers on a model");
  auto o = std::make_shared<CompareRequest>();
  add_model_options(*command, o->model);
  command
      ->add_option("--samplers", o->samplers,
                   "Names separated by commas, with parameters as NAME:KEY=VALUE")
      ->capture_default_str()
      ->type_name("LIST|all");
  command->add_option("--budget", o->plan.seconds, "Seconds of drawing for each sampler")
      ->capture_default_str()
      ->check(finite_number(1e-3));
  command->add_option("--chains", o->plan.chains, "Chains of each sampler")
      ->capture_default_str()
      ->check(CLI::Range(2, 100'000));
  command->add_option("--seed", o->seed, "Random seed, 0 to 2^64 - 1")->capture_default_str();
  command->add_option("--threads", o->plan.threads, "Threads (default: all cores)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--out", o->out, "Write the comparison: FILE.json or FILE.csv")
      ->type_name("FILE");
  command->add_flag("--json", o->json, "Print the comparison as JSON, and nothing else");
  command->callback([o, &status] { status = compare(*o); });
}

}  // namespace saltus::cli
