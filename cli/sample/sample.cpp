// saltus sample: from a model to diagnosed draws. The library draws; this looks after the files,
// the terminal and signals.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/observables.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/sample/report.hpp"
#include "cli/sample/starts.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/tuning.hpp"
#include "cli/warnings.hpp"
#include "cli/watch.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

struct SampleCommand : RunControl {
  SampleCommand() { checkpoint_every = 1; }

  ModelRequest model;
  SampleRequest request;
  std::string record = "draws";  // or moments
  std::string init = "dispersed", out;
  bool strict = false, watch = false;
  std::string part, tuning;  // K/N; a file
  bool out_per_rank = false;
  std::string temper, base, betas;  // auto or a number of replicas; where its ladder begins; a file
  int scan_steps = 1;
  std::shared_ptr<Watch> watching;                 // with --watch
  std::shared_ptr<const RowBuffer<Symbol>> start;  // from the file `init`
};

// What --temper and the options beside it ask for. Throws UsageError, FileError and DataError.
std::optional<TemperingRequest> tempering_of(const SampleCommand& c) {
  if (c.temper.empty()) {
    for (const auto& [option, given] : {std::pair{"--base", !c.base.empty()},
                                        {"--betas", !c.betas.empty()},
                                        {"--steps", c.scan_steps != 1}}) {
      if (given) throw UsageError(std::string(option) + " belongs to --temper");
    }
    return std::nullopt;
  }
  TemperingRequest t;
  t.steps = c.scan_steps;
  if (c.temper != "auto") {
    const auto replicas = number_in<int>(c.temper);
    if (!replicas || *replicas < 2) {
      throw UsageError("--temper " + c.temper + ": expected auto, or a number of replicas from 2");
    }
    t.replicas = *replicas;
  }
  if (!c.betas.empty()) {
    if (c.temper != "auto") throw UsageError("--betas says how many replicas there are: --temper");
    t.betas = read_betas(c.betas);
  }
  if (c.base == "uniform" || c.base == "model") {
    t.base = c.base;
  } else if (!c.base.empty()) {
    t.probabilities = read_probabilities(c.base, c.request.target->domain(), c.request.whole.get());
  }
  return t;
}

// --part K/N: the chains of the plan are then those of the part.
void take_part(SampleCommand& c) {
  SampleRequest& r = c.request;
  const std::size_t slash = c.part.find('/');
  const auto part = number_in<int>(c.part.substr(0, slash));
  const auto parts =
      slash == std::string::npos ? std::nullopt : number_in<int>(c.part.substr(slash + 1));
  if (!part || !parts || *part < 1 || *parts < *part) {
    throw UsageError("--part " + c.part + ": expected K/N, as in 3/10: part 3 of 10");
  }
  const auto sampler = make_sampler(r.sampler, *r.target, r.settings);
  if (sampler->tunable() && r.plan.warmup > 0) {
    throw UsageError("parts of a run cannot tune " + sampler->name() +
                     " together: give --tuning FILE ('saltus tune' writes it), or set " +
                     sampler->tunable()->tuning().front().parameter);
  }
  if (r.tempering && r.tempering->betas.empty()) {
    throw UsageError("parts of a run cannot adapt a ladder together: give --betas FILE");
  }
  const std::vector<ChainRange> ranges = chain_ranges(
      *r.target, r.plan.chains, sampler->interacting() ? r.plan.chains : r.plan.tile, *parts);
  if (static_cast<int>(ranges.size()) < *parts) {
    throw UsageError("--part " + c.part + ": " + std::to_string(r.plan.chains) +
                     " chains can be divided into " + std::to_string(ranges.size()) +
                     " parts at most, because some are advanced together (--tile)");
  }
  r.chains_of_run = r.plan.chains;
  r.plan.first_chain = ranges[static_cast<std::size_t>(*part - 1)].first_chain;
  r.plan.chains = ranges[static_cast<std::size_t>(*part - 1)].chains;
}

// all.npz: all.part-3-of-8.npz
std::string part_name(const fs::path& out, int part, int parts) {
  const fs::path name = out.stem().string() + ".part-" + std::to_string(part) + "-of-" +
                        std::to_string(parts) + out.extension().string();
  return (out.parent_path() / name).string();
}

void check(const SampleCommand& c) {
  const RunPlan& plan = c.request.plan;
  const double steps = static_cast<double>(plan.draws) * static_cast<double>(plan.thin) +
                       static_cast<double>(plan.warmup);
  if (steps > static_cast<double>(kMostSteps)) {
    throw UsageError("the run would take more than 2^53 steps: lower --draws, --thin or --warmup");
  }
  if (c.record != "draws" && c.record != "moments") {
    throw UsageError("--record " + c.record + ": expected draws or moments");
  }
  if (!c.out.empty() && c.record == "moments") {
    throw UsageError("--out needs the draws, but --record moments keeps none");
  }
  if (!c.request.observe.empty() && c.record == "moments") {
    throw UsageError("--observe needs the draws, but --record moments keeps none");
  }
  if (c.out_per_rank && c.out.empty()) throw UsageError("--out-per-rank needs --out FILE");
  if (!c.part.empty() && !starts_itself(c.init)) {
    throw UsageError("--part starts at dispersed or random states, not from a file");
  }
  std::string why;
  if (!c.out.empty() && !can_write_draws(c.out, &why)) throw UsageError(why);
  FileRoles roles;
  roles.reads("MODEL", c.model.model);
  if (!is_start_name(c.init)) roles.reads("--init", c.init);
  roles.reads("--given", c.model.given);
  roles.reads("--base", c.base);
  roles.reads("--betas", c.betas);
  roles.reads("--tuning", c.tuning);
  for (const auto& [key, value] : c.request.settings) roles.reads("--set " + key, value);
  roles.reads(c.request.model_files);
  if (c.checkpoint != c.resume) roles.reads("--resume", c.resume);
  roles.saves(c.checkpoint);
  roles.writes("--out", c.out);
}

// Where the user's programs keep what they can make again; empty where there is no such place.
std::string cache_folder() {
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return fs::path(value ? value : "");
  };
  // A relative path is to be ignored, says the XDG base directory specification.
  if (const fs::path cache = named("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "saltus";
  const fs::path home = named("HOME");
  return home.is_absolute() ? home / ".cache" / "saltus" : fs::path();
}

// What the request takes from the command. Without --out, draws of a part of the coordinates are
// enough.
void settle(SampleCommand& c) {
  SampleRequest& r = c.request;
  static_cast<Saving&>(r) = c;
  r.keep = c.record == "moments" ? Keep::moments : Keep::disk;
  // JSON has exact class probabilities, but no exact means.
  const Target& target = r.whole ? *r.whole->target : *r.target;
  r.exact = !c.json || target.domain().unordered();
  r.keep_apart = c.out_per_rank;
  r.attributes["command"] = command_line();
  r.notes["out"] = c.out;
  r.notes["device"] = c.model.device;
  r.notes["precision"] = c.model.precision;
}

// Binds the options of the subcommand to the request.
class SampleOptions {
 public:
  explicit SampleOptions(CLI::App& command) : command_(command) {
    SampleCommand& c = given_;
    SampleRequest& r = c.request;
    add_model_options(command, c.model);
    add_default(command, "--sampler", r.sampler,
                "Sampler ('saltus samplers' lists them), or auto: the best in a short race");
    add_settings(command, set_);
    add_default(command, "--chains", r.plan.chains, "Chains", whole_number(1, 1'000'000'000));
    add_default(command, "--warmup", r.plan.warmup, "Warm-up steps", steps_from(0));
    add_default(command, "--draws", r.plan.draws, "Draws of each chain", steps_from(1));
    add_default(command, "--thin", r.plan.thin, "Steps per draw", steps_from(1));
    command
        .add_option("--temper", c.temper,
                    "Exchange states along a ladder of temperatures, for models with many modes: "
                    "auto, or a number of replicas")
        ->expected(0, 1)
        ->default_str("auto")
        ->type_name("auto|N");
    add_typed(command, "--base", c.base,
              "Of --temper: where the ladder begins: model, uniform or a file of probabilities",
              "NAME");
    add_typed(command, "--betas", c.betas, "Of --temper: a file with the ladder itself", "FILE");
    add_default(command, "--steps", c.scan_steps, "Of --temper: steps between two exchanges",
                whole_number(1, 1'000'000'000));
    add_seed(command, seed_);
    add_threads(command, r.plan.threads, "a draw");
    command.add_option("--tile", r.plan.tile, "Chains advanced together (default: by model)")
        ->transform(whole_number(1, 1'000'000));
    add_typed(command, "--part", c.part,
              "Only this part of the chains, as a run of its own: 3/10 is part 3 of 10", "K/N");
    add_typed(command, "--tuning", c.tuning,
              "Sampler and settings that 'saltus tune' wrote, in place of --sampler", "FILE");
    command.add_flag("--out-per-rank", c.out_per_rank,
                     "With mpirun: each process writes the draws of its chains to a file of its "
                     "own, for 'saltus merge'");
    add_default(command, "--init", c.init,
                "Start: dispersed (all low, all high, random), random, zeros, ones, or a file: of "
                "states, one row per chain, or of another run's draws")
        ->type_name("NAME|FILE");
    add_observe(command, r.observe);
    add_strict(command, c.strict);
    command.add_flag("--watch", c.watch,
                     "Show the chains while they run: log p, ESS and R-hat so far (on a terminal)");
    command.add_flag("--no-cache", no_cache_,
                     "With --sampler auto: race anew, and keep nothing for later runs");
    command.add_flag("!--no-probe", r.probe, "Do not look for modes that the chains have missed");
    add_default(command, "--record", c.record, "Keep draws, or running moments alone")
        ->type_name("draws|moments");
    add_typed(command, "--out", c.out, "Write the draws: FILE.nc, FILE.npz or FILE.csv", "FILE");
    c.add_options(command,
                  {"Save the run here between rounds", "Continue the run saved in this checkpoint",
                   "Stop after the round that passes this many seconds"});
  }

  // Checks what was given and completes it: reads the model, and the checkpoint when resuming.
  // Throws UsageError, FileError and DataError.
  SampleCommand complete() {
    SampleCommand c = given_;
    c.request.settings = parse_settings(set_);
    c.request.plan.seed = parse_seed(seed_);
    return c.resume.empty() ? begun(std::move(c)) : resumed(std::move(c));
  }

 private:
  SampleCommand begun(SampleCommand c) const {
    check(c);
    SampleRequest& r = c.request;
    if (!c.tuning.empty()) {
      if (was_given(command_, "--sampler")) {
        throw UsageError("--sampler and --tuning both name a sampler: leave one out");
      }
      const Settings given = r.settings;
      read_tuning(c.tuning, r);
      for (const auto& [name, value] : given) r.settings[name] = value;
    }
    r.settings = with_files_read(r.settings);
    c.claim_files();
    SampleRequest of_model(load_model(c.model));
    r.target = of_model.target;
    r.model_text = of_model.model_text;
    r.model_files = of_model.model_files;
    r.model_base = of_model.model_base;
    r.objective = of_model.objective;
    r.labels = of_model.labels;
    r.whole = of_model.whole;
    check(c);  // the model's own files, too
    const int dim = r.target->domain().dim();
    r.coordinates = c.out.empty() && r.observe.empty() ? watched_count(dim, r.plan) : dim;
    r.tempering = tempering_of(c);
    if (!c.part.empty()) take_part(c);
    if (r.tempering && was_given(command_, "--init")) {
      throw UsageError("--init has no place beside --temper, which starts from the base");
    }
    r.plan.start = c.init == "random" ? Start::random : Start::dispersed;
    if (!starts_itself(c.init)) {
      c.start = std::make_shared<const RowBuffer<Symbol>>(starting_states(c.init, r));
      r.start = c.start->view();
    }
    if (r.sampler == "auto") {
      if (!no_cache_) r.cache = cache_folder();
      r.notes["command"] = command_line_without({"--sampler", "--set"});
    }
    settle(c);
    return c;
  }

  // Everything that determines the draws comes from the checkpoint; what is repeated must agree.
  SampleCommand resumed(SampleCommand c) const {
    c.request.settings = with_files_read(c.request.settings);
    c.claim_files();
    SampleRequest saved = read_sample_checkpoint(c.resume);
    const SampleRequest& r = c.request;
    const auto same = [&](const char* name, const auto& now, const auto& then) {
      if (was_given(command_, name) && now != then) {
        throw UsageError(std::string(name) + " differs from the run that " + c.resume +
                         " continues; leave it out");
      }
    };
    if (r.sampler != "auto" || !saved.choice) {
      same("--sampler", r.sampler, saved.sampler);
      same("--set", r.settings, saved.settings);
    }
    same("--chains", r.plan.chains, saved.plan.chains);
    same("--warmup", r.plan.warmup, saved.plan.warmup);
    same("--thin", r.plan.thin, saved.plan.thin);
    same("--seed", r.plan.seed, saved.plan.seed);
    same("--tile", r.plan.tile, saved.plan.tile);
    const std::string record = saved.keep == Keep::moments ? "moments" : "draws";
    same("--record", c.record, record);
    if (was_given(command_, "--draws")) {
      if (r.plan.draws != saved.plan.draws && record == "moments") {
        throw UsageError("--draws cannot change in a run that records moments");
      }
      saved.plan.draws = r.plan.draws;
    }
    same("--device", c.model.device, saved.notes["device"]);
    same("--precision", c.model.precision, saved.notes["precision"]);
    if (was_given(command_, "MODEL")) {
      const Model model = load_model(c.model);  // with the options of problem files
      if (given_in_text(model.text) != given_in_text(saved.model_text)) {
        throw UsageError("the values of --given differ from those of the run that " + c.resume +
                         " continues");
      }
      same("MODEL", model.text, saved.model_text);
      same("MODEL", model.files, saved.model_files);
    }
    if (!was_given(command_, "MODEL") && !c.model.given.empty()) {
      throw UsageError("the given values are settled by " + c.resume + "; leave --given out");
    }
    if (!was_given(command_, "MODEL") &&
        !(c.model.problem == ProblemOptions{} && c.model.constraint.empty())) {
      throw UsageError("how the model is read is settled by " + c.resume + "; leave it out");
    }
    for (const char* option :
         {"--temper", "--base", "--betas", "--steps", "--part", "--tuning", "--out-per-rank"}) {
      if (was_given(command_, option)) {
        throw UsageError(std::string(option) + " is settled by " + c.resume + "; leave it out");
      }
    }
    if (was_given(command_, "--init"))
      throw UsageError("--init has no place in a run that is continued");
    if (!was_given(command_, "--out")) c.out = saved.notes["out"];
    if (was_given(command_, "--observe")) saved.observe = r.observe;
    saved.plan.threads = r.plan.threads;
    c.record = record;
    c.model.device = saved.notes["device"];
    c.model.precision = saved.notes["precision"];
    c.request = std::move(saved);
    check(c);
    attach_saved_model(c.request, c.model.options());
    const int dim = c.request.target->domain().dim();
    for (const auto& [option, given] :
         {std::pair{"--out", !c.out.empty()}, {"--observe", !c.request.observe.empty()}}) {
      if (!given || c.request.coordinates == dim) continue;
      throw UsageError(std::string(option) +
                       " needs the draws of all coordinates, but the run was started without it "
                       "and kept " +
                       std::to_string(c.request.coordinates) + " of " + std::to_string(dim));
    }
    settle(c);
    return c;
  }

  CLI::App& command_;
  SampleCommand given_;
  std::vector<std::string> set_;
  std::string seed_ = "1";
  bool no_cache_ = false;
};

// After something went wrong: saves what has been made, unless that is saved already, and returns
// how to continue; or why that is not possible. Lines of their own.
std::string rescue(SampleRun& run, const SampleCommand& command) {
  const std::string& checkpoint = run.request().checkpoint;
  if (run.run().warming_up() && checkpoint.empty()) return "";
  try {
    if (checkpoint.empty()) command.files->save_somewhere(run, command.out);
  } catch (const std::exception& e) {
    return fmt::format("The run is not saved: {}\n", e.what());
  }
  if (!fs::exists(checkpoint)) return "";
  return fmt::format(
      "The run is saved in {}. To continue, or to write the draws elsewhere:\n"
      "  saltus sample --resume {}{}\n",
      checkpoint, shell_word(checkpoint), command.out.empty() ? "" : " --out FILE");
}

void tell_how_to_continue(const SampleResult& result, const std::string& checkpoint) {
  if (result.complete) return;
  say("Stopped after {} of {} draws of each chain.", with_commas(result.draws_made),
      with_commas(result.plan.draws));
  say_how_to_continue(checkpoint, "saltus sample --resume " + shell_word(checkpoint));
}

bool go(SampleRun& run, const SampleCommand& command) {
  Progress progress;
  if (command.watch) {
    progress.also_show([&](const TerminalSize& size) {
      auto lines = command.watching->lines(size.width, size.height);
      lines.insert(lines.begin(),
                   fmt::format("{} of {} draws of each chain", with_commas(run.run().draws_made()),
                               with_commas(run.request().plan.draws)));
      return lines;
    });
  }
  return run.go([&](const auto& status) { return progress.update(status); });
}

// From the first step to the last draw in its file.
void make_draws(SampleRun& run, const SampleCommand& command) {
  try {
    const bool complete = go(run, command);
    if (leads() && !complete && signal_seen() && run.request().checkpoint.empty()) {
      try {
        command.files->save_somewhere(run, command.out);
      } catch (const FileError& e) {
        say("saltus: the run is not saved: {}\n", e.what());
      }
    }
    if (command.out_per_rank && run.parts() > 1) {
      if (run.part() > 0) {
        write_draws(part_name(command.out, run.part(), run.parts()), *run.draws());
      }
      return;
    }
    if (!leads()) return;
    if (!command.out.empty() && run.run().draws_made() > 0) write_draws(command.out, *run.draws());
  } catch (const FileError& e) {
    throw EndError(e.writing ? cannot_create : no_input, e.what(), rescue(run, command));
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory", rescue(run, command));
  }
}

// The draws must not be lost because their summary does not fit into memory.
SampleResult summarise_draws(SampleRun& run, const SampleCommand& command) {
  try {
    return run.result();
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory for the summary", rescue(run, command));
  }
}

// The file of draws once more, now that there is something to say against them.
void write_warnings(SampleRun& run, const SampleCommand& command, const SampleResult& result) {
  if (command.out.empty() || result.warnings.empty() || !result.draws || result.draws_made == 0 ||
      !keeps_warnings(command.out)) {
    return;
  }
  run.set_attribute("warnings", warnings_json(result.warnings).dump());
  try {
    write_draws(command.out, *run.draws());
  } catch (const FileError& e) {
    say("saltus: {} is written, but without the warnings: {}\n", command.out, e.what());
  }
}

// Where a race chose the sampler: the command that makes the same draws without one.
std::string command_to_repeat(const SampleRequest& request) {
  const auto typed = request.notes.find("command");
  if (!request.choice || typed == request.notes.end()) return "";
  const Contender& winner = request.choice->winner;
  return typed->second + sampler_words(winner.sampler, winner.settings) +
         (winner.tempered ? " --temper" : "");
}

int sample(SampleCommand command) {
  command.request.team = team();
  if (command.watch) {
    command.watching = std::make_shared<Watch>();
    command.watching->begin(command.request.plan.chains);
    command.request.listener = command.watching.get();
  }
  SampleRun run(command.request);
  run.start();
  make_draws(run, command);
  if (!leads()) return ok;
  const SampleResult result = summarise_draws(run, command);
  write_warnings(run, command, result);
  const std::string repeat = command_to_repeat(run.request());
  command.json ? show_report_json(result, repeat) : print_report(result, repeat);
  tell_how_to_continue(result, run.request().checkpoint);
  if (!result.complete && signal_seen()) return 128 + signal_seen();
  return status_of(result.warnings, command.strict);
}

}  // namespace

void add_sample(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("sample", "Draw from a model");
  auto options = std::make_shared<SampleOptions>(*command);
  command->callback([options, &status] { status = sample(options->complete()); });
}

}  // namespace saltus::cli
