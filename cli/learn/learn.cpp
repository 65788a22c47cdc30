// saltus learn: from data to a model that 'saltus sample' draws from.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"
#include "saltus/learn.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

struct LearnCommand : RunControl {
  LearnRequest request;
  std::string data, out;  // files
};

constexpr int kMostRows = 1'000'000'000;

void check_files(const LearnCommand& r) {
  if (r.out.empty()) throw UsageError("say with --out MODEL.json where the model goes");
  if (fs::path(r.out).extension() != ".json") {
    throw UsageError("--out " + r.out + ": a model is written as FILE.json");
  }
  FileRoles roles;
  roles.reads("--data", r.data);
  if (r.checkpoint != r.resume) roles.reads("--resume", r.resume);
  roles.saves(r.checkpoint);
  roles.writes("--out", r.out);
  const fs::path weights = weights_beside(r.out);
  roles.writes("the weights of --out", weights);
  if (fs::exists(weights) && !fs::exists(r.out)) {
    throw UsageError("--out " + r.out + " may write its weights to " + weights.string() +
                     ", which is there already: name another file");
  }
}

// Binds the options of 'saltus learn rbm' or 'saltus learn ising' to the request.
class LearnOptions {
 public:
  LearnOptions(CLI::App& command, std::string kind) : command_(command) {
    given_.request = learn_request(kind);
    LearnRequest& r = given_.request;
    add_typed(command, "--data", given_.data, "Rows of 0 and 1: .npy, .npz, .csv, .amat or IDX",
              "FILE");
    add_typed(command, "--out", given_.out, "Write the model here: FILE.json", "FILE");
    if (kind == "rbm") {
      add_default(command, "--hidden", r.hidden, "Hidden units", whole_number(1, kMostRows));
    } else {
      command.add_flag("--fields", r.fields, "Learn a field of each spin, too");
    }
    command.add_option("--cd", cd_, "Contrastive divergence: chains start at the data, K steps")
        ->type_name(kind == "rbm" ? "K=10" : "K")
        ->transform(whole_number(1, kMostRows));
    command
        .add_option("--pcd", r.plan.chains,
                    "Persistent contrastive divergence, with this many chains")
        ->type_name(kind == "rbm" ? "CHAINS" : "CHAINS=256")
        ->transform(whole_number(1, kMostRows));
    add_default(command, "--steps", r.plan.steps, "Steps of the persistent chains in an iteration",
                steps_from(1));
    add_common();
  }

  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnCommand complete() const {
    LearnCommand c = given_;
    LearnRequest& r = c.request;
    if (was_given(command_, "--epochs") && was_given(command_, "--iterations")) {
      throw UsageError("--epochs and --iterations both say how long to learn: give one of them");
    }
    if (was_given(command_, "--iterations")) r.epochs = 0;
    if (was_given(command_, "--epochs")) r.iterations = 0;
    if (!c.resume.empty()) {
      c.claim_files();
      return resumed(std::move(c));
    }
    if (c.data.empty()) throw UsageError("say with --data FILE what to learn from");
    choose_phase(r);
    r.plan.seed = parse_seed(seed_);
    check_files(c);
    c.claim_files();
    return c;
  }

 private:
  void add_common() {
    LearnRequest& r = given_.request;
    add_default(command_, "--sampler", r.sampler, "What moves the chains ('saltus samplers')");
    add_settings(command_, set_, "; dmala: step_size=0.15");
    command_.add_option("--epochs", r.epochs, "How often to go through the data")
        ->type_name(r.epochs ? "N=1" : "N")
        ->transform(steps_from(1));
    command_.add_option("--iterations", r.iterations, "Instead of epochs: batches to learn from")
        ->type_name(r.epochs ? "N" : "N=1000")
        ->transform(steps_from(1));
    add_default(command_, "--batch", r.plan.batch, "Rows of data in a batch (at most all)",
                whole_number(1, kMostRows));
    command_.add_flag("--drop-last", r.plan.drop_last,
                      "Leave out of an epoch what does not fill a batch");
    add_default(command_, "--lr", r.plan.adam.rate, "Learning rate of Adam", finite_number(0));
    add_default(command_, "--l1", r.plan.l1, "Penalty: so much times the sum of |weights|",
                finite_number(0));
    add_seed(command_, seed_);
    add_threads(command_, r.plan.threads, "the model");
    given_.add_options(command_, {"Save here now and then", "Go on with what this checkpoint holds",
                                  "Stop after this many seconds"});
  }

  // Where the samples come from: --cd, --pcd, or what suits the model.
  void choose_phase(LearnRequest& r) const {
    if (was_given(command_, "--cd") && was_given(command_, "--pcd")) {
      throw UsageError("--cd and --pcd are two ways to learn: give one of them");
    }
    if (was_given(command_, "--cd") && was_given(command_, "--steps")) {
      throw UsageError("--cd says how many steps there are: leave out --steps");
    }
    if (!was_given(command_, "--cd") && r.plan.chains == 0 && was_given(command_, "--steps")) {
      throw UsageError("--steps belongs to --pcd CHAINS; for contrastive divergence give --cd K");
    }
    if (was_given(command_, "--cd")) {
      r.plan.chains = 0;
      r.plan.steps = static_cast<std::uint64_t>(cd_);
    }
    if (was_given(command_, "--sampler") || was_given(command_, "--set")) {
      r.settings = with_files_read(parse_settings(set_));
    }
  }

  // Everything that determines the model comes from the checkpoint.
  LearnCommand resumed(LearnCommand c) const {
    refuse_settled(command_,
                   {"--hidden", "--fields", "--cd", "--pcd", "--steps", "--sampler", "--set",
                    "--batch", "--drop-last", "--lr", "--l1", "--seed"},
                   c.resume);
    LearnRequest saved = resumed_learning(c.resume);
    if (saved.kind != c.request.kind) {
      throw UsageError(c.resume + " holds what 'saltus learn " + saved.kind + "' saved");
    }
    if (was_given(command_, "--epochs") || was_given(command_, "--iterations")) {
      saved.epochs = c.request.epochs;
      saved.iterations = c.request.iterations;
    }
    if (!was_given(command_, "--data")) c.data = saved.notes["data"];
    if (!was_given(command_, "--out")) c.out = saved.notes["out"];
    saved.plan.threads = c.request.plan.threads;
    c.request = std::move(saved);
    check_files(c);
    return c;
  }

  CLI::App& command_;
  LearnCommand given_;
  int cd_ = 0;
  std::vector<std::string> set_;
  std::string seed_ = "1";
};

std::string method_text(const LearnRequest& r) {
  return r.plan.chains > 0
             ? fmt::format("persistent contrastive divergence, {} chains x {} steps of {}",
                           count(r.plan.chains), with_commas(r.plan.steps), r.sampler)
             : fmt::format("contrastive divergence, {} steps of {}", with_commas(r.plan.steps),
                           r.sampler);
}

void print_report(const LearnCommand& command, const LearnRequest& r, const LearnResult& result) {
  const LearnTotals& t = result.totals;
  show_row("model", r.kind == "rbm"
                        ? fmt::format("rbm, {} visible and {} hidden units", count(r.data.cols),
                                      count(r.hidden))
                        : fmt::format("ising, {} spins, all couplings{}", count(r.data.cols),
                                      r.fields ? " and fields" : ""));
  show_row("data", fmt::format("{}, {} rows", command.data, count(r.data.rows)));
  show_row("method", method_text(r));
  show_row("learned",
           fmt::format("{} iterations, {} times through the data, in {}", with_commas(t.iterations),
                       short_number(result.epochs), duration(t.seconds())));
  const double whole = t.seconds() > 0 ? t.seconds() / 100 : 1;
  show_row("time", fmt::format("sampling {:.0f} %, gradient {:.0f} %, update {:.0f} %",
                               t.sampling_seconds / whole, t.gradient_seconds / whole,
                               t.update_seconds / whole));
  show_row("now", state_text(t.recent));
  show_row("written", command.out);
}

Json report_json(const LearnCommand& command, const LearnRequest& r, const LearnResult& result) {
  const LearnTotals& t = result.totals;
  Json j;
  j["model"] = r.kind;
  j["dim"] = r.data.cols;
  if (r.kind == "rbm") j["hidden"] = r.hidden;
  if (r.kind == "ising") j["fields"] = r.fields;
  j["rows"] = r.data.rows;
  j["batch"] = r.plan.batch;
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(result.parameters);
  j["persistent_chains"] = r.plan.chains;
  j["steps"] = r.plan.steps;
  j["lr"] = r.plan.adam.rate;
  j["l1"] = r.plan.l1;
  j["seed"] = r.plan.seed;
  j["iterations"] = t.iterations;
  j["epochs"] = result.epochs;
  j["loss"] = json_number(t.recent.loss);
  j["gap"] = json_number(t.recent.gap);
  j["reconstruction_error"] = json_number(t.recent.difference);
  j["acceptance_rate"] = json_number(t.recent.acceptance);
  j["proposed_changes"] = json_number(t.recent.proposed);
  j["changes"] = json_number(t.recent.changed);
  j["seconds"] = {{"sampling", t.sampling_seconds},
                  {"gradient", t.gradient_seconds},
                  {"update", t.update_seconds}};
  j["out"] = command.out;
  j["complete"] = result.complete;
  j["version"] = version();
  return j;
}

std::string resume_text(const LearnRequest& r) {
  return fmt::format("saltus learn {} --resume {}", r.kind, shell_word(r.checkpoint));
}

void write_model(LearnRun& run, const LearnCommand& command) {
  try {
    run.model().write(command.out);
  } catch (const FileError& e) {
    if (run.request().checkpoint.empty()) command.files->save_somewhere(run, command.out);
    throw EndError(cannot_create, e.what(),
                   fmt::format("What was learned is saved in {}. To write it elsewhere:\n"
                               "  {} --out FILE.json\n",
                               run.request().checkpoint, resume_text(run.request())));
  }
}

void tell_how_to_continue(const LearnRequest& r, std::uint64_t iterations) {
  say("Stopped after {} of {} iterations.", with_commas(iterations), with_commas(r.iterations));
  say_how_to_continue(r.checkpoint, resume_text(r));
}

// From the first iteration to the model in its file.
void learn_and_write(LearnRun& run, const LearnCommand& command) {
  bool complete = false;
  try {
    complete = go(run);
  } catch (const FileError& e) {
    const LearnRequest& r = run.request();
    const bool saved = !r.checkpoint.empty() && fs::exists(r.checkpoint);
    throw EndError(e.writing ? cannot_create : no_input, e.what(),
                   saved ? fmt::format("The last save is {}. To continue:\n  {}\n", r.checkpoint,
                                       resume_text(r))
                         : "");
  }
  if (!complete && signal_seen() && run.request().checkpoint.empty())
    command.files->save_somewhere(run, command.out);
  write_model(run, command);
  if (!complete) tell_how_to_continue(run.request(), run.result().totals.iterations);
}

int learn(LearnCommand command) {
  const DataSet data = read_binary_data(command.data);
  LearnRequest& request = command.request;
  request.data = data.rows.view();
  if (!command.resume.empty() && sum_of(request.data) != request.data_sum) {
    throw DataError(command.data + ": not the data that " + command.resume + " learned from");
  }
  request.notes = {{"data", fs::absolute(command.data).lexically_normal().string()},
                   {"out", command.out}};
  static_cast<Saving&>(request) = command;
  request.plan.team = team();
  LearnRun run(request);
  if (!leads()) {
    go(run);
    return ok;
  }
  learn_and_write(run, command);
  const LearnResult result = run.result();
  command.json ? show_json(report_json(command, run.request(), result))
               : print_report(command, run.request(), result);
  return result.complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_learn(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("learn", "Learn a model from data");
  command->require_subcommand(1);
  const auto add = [&](const char* kind, const char* summary) {
    CLI::App* one = command->add_subcommand(kind, summary);
    auto options = std::make_shared<LearnOptions>(*one, kind);
    one->callback([options, &status] { status = learn(options->complete()); });
  };
  add("rbm", "Restricted Boltzmann machine");
  add("ising", "Ising model with couplings between all spins");
  add_learn_ebm(*command, status);
}

}  // namespace saltus::cli
