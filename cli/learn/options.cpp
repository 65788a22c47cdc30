#include "cli/learn/options.hpp"

#include <filesystem>

#include "cli/option_checks.hpp"
#include "cli/sample/options.hpp"
#include "cli/terminal.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostRows = 1'000'000'000;

void check_files(const LearnCommand& r) {
  if (r.out.empty()) throw UsageError("say with --out MODEL.json where the model goes");
  if (std::filesystem::path(r.out).extension() != ".json") {
    throw UsageError("--out " + r.out + ": a model is written as FILE.json");
  }
  FileRoles roles;
  roles.reads("--data", r.data);
  if (r.checkpoint != r.resume) roles.reads("--resume", r.resume);
  roles.saves(r.checkpoint);
  roles.writes("--out", r.out);
  const std::filesystem::path weights = weights_beside(r.out);
  roles.writes("the weights of --out", weights);
  if (std::filesystem::exists(weights) && !std::filesystem::exists(r.out)) {
    throw UsageError("--out " + r.out + " may write its weights to " + weights.string() +
                     ", which is there already: name another file");
  }
}

}  // namespace

LearnOptions::LearnOptions(CLI::App& command, std::string kind) : command_(command) {
  given_.request = learn_request(kind);
  LearnRequest& r = given_.request;
  command.add_option("--data", given_.data, "Rows of 0 and 1: .npy, .npz, .csv, .amat or IDX")
      ->type_name("FILE");
  command.add_option("--out", given_.out, "Write the model here: FILE.json")->type_name("FILE");
  if (kind == "rbm") {
    command.add_option("--hidden", r.hidden, "Hidden units")
        ->capture_default_str()
        ->check(CLI::Range(1, kMostRows));
  } else {
    command.add_flag("--fields", r.fields, "Learn a field of each spin, too");
  }
  command.add_option("--cd", cd_, "Contrastive divergence: chains start at the data, K steps")
      ->type_name(kind == "rbm" ? "K=10" : "K")
      ->check(CLI::Range(1, kMostRows));
  command
      .add_option("--pcd", r.plan.chains, "Persistent contrastive divergence with so many chains")
      ->type_name(kind == "rbm" ? "CHAINS" : "CHAINS=256")
      ->check(CLI::Range(1, kMostRows));
  command.add_option("--steps", r.plan.steps, "Steps of the persistent chains in an iteration")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, kMostSteps));
  add_common();
}

void LearnOptions::add_common() {
  LearnRequest& r = given_.request;
  const auto whole = CLI::Range(std::int64_t{1}, kMostSteps);
  command_.add_option("--sampler", r.sampler, "What moves the chains ('saltus samplers')")
      ->capture_default_str();
  command_
      .add_option("--set", set_, "Sampler parameter KEY=VALUE, repeatable; dmala: step_size=0.15")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command_.add_option("--epochs", r.epochs, "How often to go through the data")
      ->type_name(r.epochs ? "N=1" : "N")
      ->check(whole);
  command_.add_option("--iterations", r.iterations, "Instead of epochs: batches to learn from")
      ->type_name(r.epochs ? "N" : "N=1000")
      ->check(whole);
  command_.add_option("--batch", r.plan.batch, "Rows of data in a batch (at most all)")
      ->capture_default_str()
      ->check(CLI::Range(1, kMostRows));
  command_.add_flag("--drop-last", r.plan.drop_last,
                    "Leave out of an epoch what does not fill a batch");
  command_.add_option("--lr", r.plan.adam.rate, "Learning rate of Adam")
      ->capture_default_str()
      ->check(finite_number(0));
  command_.add_option("--l1", r.plan.l1, "Penalty: so much times the sum of |weights|")
      ->capture_default_str()
      ->check(finite_number(0));
  command_.add_option("--seed", seed_, "Random seed, 0 to 2^64 - 1")->capture_default_str();
  command_
      .add_option("--threads", r.plan.threads,
                  "Threads (default: all cores); never changes the model")
      ->check(CLI::Range(1, 4096));
  given_.add_options(command_, {"Save here now and then", "Go on with what this checkpoint holds",
                                "Stop after so many seconds"});
}

// Where the samples come from: --cd, --pcd, or what suits the model.
void LearnOptions::choose_phase(LearnRequest& r) const {
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

LearnCommand LearnOptions::complete() const {
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

// Everything that determines the model comes from the checkpoint.
LearnCommand LearnOptions::resumed(LearnCommand c) const {
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

}  // namespace saltus::cli
