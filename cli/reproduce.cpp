// saltus reproduce: the paper's experiments, from data to figures.
#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/new_file.hpp"
#include "report/machine.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/kept_cells.hpp"
#include "reproduce/output.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/module.hpp"

namespace saltus::cli {
namespace {

struct ReproduceRequest {
  ReproduceRequest() { options.seeds = 0; }  // the experiment's own
  reproduce::Options options;
  std::string name, seed = "1", out, data, alphas, only, device = "cpu", results = "results",
                    starts = "own";
  bool json = false;
};

// "results/bnn: 2026-11-15, 3 days old, saltus 0.2.0, 5 seeds: 51 agree, 5 differ"
std::string results_line(const reproduce::ListedResults& r) {
  using reproduce::Verdict;
  const std::string age = reproduce::age_text(r.date, reproduce::today());
  std::string line =
      fmt::format("{}: {}{}saltus {}, {} seed{}{}: {} agree, {} differ", r.folder.string(),
                  r.date.empty() ? "" : r.date + ", ", age.empty() ? "" : age + ", ", r.version,
                  r.seeds, r.seeds == 1 ? "" : "s", r.quick ? ", quick" : "",
                  r.count(Verdict::agrees), r.count(Verdict::differs));
  const auto add = [&](Verdict v, const char* words) {
    if (r.count(v) > 0) line += fmt::format(", {} {}", r.count(v), words);
  };
  add(Verdict::cannot_hold, "cannot hold");
  add(Verdict::undecided, "undecided");
  return line;
}

Json listed_json(const reproduce::ListedResults& r) {
  Json verdicts = Json::object();
  for (const reproduce::Verdict v : reproduce::kVerdicts) {
    verdicts[reproduce::verdict_text(v)] = r.count(v);
  }
  return {{"folder", r.folder.string()},
          {"date", r.date.empty() ? Json(nullptr) : Json(r.date)},
          {"version", r.version},
          {"command", r.command},
          {"quick", r.quick},
          {"seeds", r.seeds},
          {"verdicts", verdicts}};
}

void list_experiments(const ReproduceRequest& request) {
  const auto kept = reproduce::list_results(request.results);
  Json all = Json::array();
  for (const reproduce::Experiment& e : reproduce::experiments()) {
    Json found = Json::array();
    if (!request.json) {
      show("{:<15} {}\n{:<15} about {}; with --quick about {}\n", e.name, e.summary, "",
           e.full_time, e.quick_time);
    }
    for (const reproduce::ListedResults& r : kept) {
      if (r.experiment != e.name) continue;
      if (!request.json) show("{:<15} {}\n", "", results_line(r));
      found.push_back(listed_json(r));
    }
    all.push_back({{"name", e.name},
                   {"summary", e.summary},
                   {"time", e.full_time},
                   {"quick_time", e.quick_time},
                   {"results", found}});
  }
  if (request.json) return show_json(all, {}, 1);
  show("\nTimes are for two cores. 'saltus reproduce NAME' runs one; --help has the options.\n");
}

// "0.1,0.2" -> numbers above 0.
std::vector<double> parse_alphas(const std::string& text) {
  std::vector<double> list;
  if (text.empty()) return list;
  for (const std::string& part : split_list(text)) {
    const auto value = number_in<double>(part);
    if (!value || !(*value > 0) || !std::isfinite(*value)) {
      throw UsageError("--alpha " + text + ": expected numbers above 0, separated by commas");
    }
    list.push_back(*value);
  }
  return list;
}

// True for "alike".
bool parse_starts(const std::string& text) {
  if (text == "own" || text == "alike") return text == "alike";
  throw UsageError("--starts " + text + ": expected own or alike");
}

// What was asked for, with what is left to chance written out.
std::string command_of(const ReproduceRequest& request, const reproduce::Options& options) {
  std::string text = fmt::format("saltus reproduce {}{} --seeds {} --seed {}", request.name,
                                 options.quick ? " --quick" : "", options.seeds, options.seed);
  if (!request.alphas.empty()) text += " --alpha " + request.alphas;
  if (!request.only.empty()) text += " --only " + request.only;
  if (options.iterations > 0) text += fmt::format(" --iterations {}", options.iterations);
  if (options.reduced) text += " --reduced";
  if (!options.model.empty()) {
    const auto folder = std::filesystem::weakly_canonical(options.model);
    text += " --model " + shell_word("DIR/" + folder.filename().string());
  }
  if (options.starts_alike) text += " --starts alike";
  if (options.device == Device::cuda) text += " --device cuda";
  if (!options.data.empty()) text += " --data DIR";
  return text;
}

// The folder of results: made when it is not there, and removed again unless it was filled.
class OutFolder {
 public:
  explicit OutFolder(std::filesystem::path path) : path_(std::move(path)) {
    made_ = make_folder(path_, path_ / "results.json");
    lock_ = std::make_unique<FileLock>(path_ / "results.json");
  }
  ~OutFolder() {
    std::error_code ignored;
    lock_.reset();
    if (made_) std::filesystem::remove(path_, ignored);  // fails where something is in it
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<FileLock> lock_;  // of all that is in it
  bool made_;
};

reproduce::Options options_of(const ReproduceRequest& request,
                              const reproduce::Experiment& experiment) {
  reproduce::Options options = request.options;
  options.seed = parse_seed(request.seed);
  options.data = data_folder(request.data);
  options.alphas = parse_alphas(request.alphas);
  if (options.seeds == 0) options.seeds = options.quick ? experiment.quick_seeds : experiment.seeds;
  options.device = parse_device(request.device);
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw UsageError(fmt::format("the experiment {} does not know {}", request.name, option));
  };
  if (!experiment.resumes()) refuse(options.time > 0, "--time");
  if (!experiment.in_parts()) refuse(options.device != Device::cpu, "--device cuda");
  if (!experiment.own_parts) {
    refuse(options.reduced, "--reduced");
    refuse(options.iterations > 0, "--iterations");
  }
  options.starts_alike = parse_starts(request.starts);
  if (!experiment.any_model) refuse(!options.model.empty(), "--model");
  if (!experiment.any_model) refuse(options.starts_alike, "--starts");
  options.only = reproduce::parts_of(experiment, request.only, options.quick);
  if (!experiment.own_parts) reproduce::check_data(experiment, options.data, options.only);
  if (experiment.data.empty()) options.data.clear();
  return options;
}

std::string machine_of(const reproduce::Options& options) {
  if (options.device == Device::cpu) return report::this_machine();
  // Without a GPU, finished parts can still be put together.
  const std::string gpu = gpu_name();
  return report::this_machine() + (gpu.empty() ? "" : ", " + gpu);
}

int reproduce_one(const ReproduceRequest& request) {
  const reproduce::Experiment& experiment = reproduce::find_experiment(request.name);
  reproduce::Options options = options_of(request, experiment);
  const OutFolder folder(request.out.empty() ? "reproduce-" + request.name : request.out);
  if (experiment.resumes()) options.partial = folder.path() / "partial";
  const Stopwatch watch;
  const auto changed = reproduce::last_change(options.partial);
  reproduce::Results results;
  try {
    Progress progress(Progress::Elsewhere::nothing);
    reproduce::Context context(options, [&](const std::string& doing) {
      return progress.show(
          fmt::format("{}: {} ({})", request.name, doing, duration(watch.seconds())));
    });
    results = experiment.run(context);
  } catch (const reproduce::Interrupted&) {
    return 128 + signal_seen();
  }
  reproduce::Ledger ledger{{machine_of(options)}, watch.seconds()};
  if (experiment.resumes()) {
    const bool computed = reproduce::last_change(options.partial) > changed;
    ledger = reproduce::add_to_ledger(options.partial, ledger.machine(), ledger.seconds, computed);
  }
  const reproduce::Made made{experiment, options, command_of(request, options), ledger.seconds,
                             ledger.machine()};
  const auto written = reproduce::write_results(results, made, folder.path());
  if (request.json) {
    show_json(reproduce::results_json(results, made), {}, 1);
    return ok;
  }
  show("{}\n", reproduce::results_text(results));
  for (const std::string& finding : results.findings) show("{}\n", finding);
  show("\n{} seeds from {}, {}\n", options.seeds, options.seed, duration(made.seconds));
  for (const std::filesystem::path& file : written) show("{}\n", file.string());
  return ok;
}

}  // namespace

void add_reproduce(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand(
      "reproduce", "Run an experiment of the paper, from data to figures; alone: list them");
  auto o = std::make_shared<ReproduceRequest>();
  command->add_option("NAME", o->name, "The experiment");
  command->add_flag("--quick", o->options.quick, "A smaller version, within a minute");
  command
      ->add_option("--seeds", o->options.seeds,
                   "Runs, with seeds S, S + 1, ... (default: by experiment)")
      ->transform(whole_number(1, 1000));
  add_default(*command, "--seed", o->seed, "The first seed S, 0 to 2^64 - 1");
  add_typed(*command, "--out", o->out, "Folder for the results (default: reproduce-NAME)", "DIR");
  add_data_folder(*command, o->data);
  add_typed(*command, "--alpha", o->alphas, "Step sizes to use instead of the experiment's",
            "LIST");
  add_typed(*command, "--only", o->only,
            "Parts to run instead of all, where there are some: bnn, ebm", "LIST");
  command
      ->add_option(
          "--time", o->options.time,
          "Stop after this many seconds (all but ebm: begin no part); the same call goes on: bnn, "
          "ebm, ising-learning, text")
      ->check(finite_number(0))
      ->type_name("SECONDS");
  add_default(*command, "--device", o->device, "Where chains run, cpu or cuda: bnn, ebm, text");
  add_typed(
      *command, "--model", o->options.model,
      "Folder of a masked language model, in place of the one that comes with the program: text",
      "DIR");
  add_default(*command, "--starts", o->starts,
              "Whether each chain of a sentence starts with words of its own, or all alike: text");
  command->add_option("--iterations", o->options.iterations, "Iterations of learning: ebm")
      ->transform(steps_from(1));
  command->add_flag("--reduced", o->options.reduced, "A cheaper final evaluation: ebm");
  add_default(*command, "--results", o->results,
              "Without NAME: folder of earlier results, which are listed with their age");
  command->add_flag("--json", o->json, "Print results.json, and nothing else; alone: the list");
  add_threads(*command, o->options.threads, "");
  command->callback([o, &status] {
    if (o->name.empty()) return list_experiments(*o);
    status = reproduce_one(*o);
  });
}

}  // namespace saltus::cli
