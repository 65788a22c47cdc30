#include "cli/learn/options.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/learn/description.hpp"
#include "cli/option_checks.hpp"
#include "cli/sample/options.hpp"
#include "cli/terminal.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostRows = 1'000'000'000;

// The settings of the paper's experiments with the two kinds of models.
LearnRequest defaults(const std::string& kind) {
  LearnRequest r;
  r.kind = kind;
  if (kind == "rbm") {
    r.sampler = "block_gibbs";
    r.epochs = 1;
  } else {
    r.sampler = "dmala";
    r.plan.batch = r.plan.chains = 256;
    r.plan.steps = 100;
    r.iterations = 1000;
  }
  return r;
}

void check_files(const LearnRequest& r) {
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

LearnRequest described(const std::string& text, const std::string& source) {
  LearnRequest r;
  read_description(text, source, [&](JsonFields& d) {
    const auto whole = [&](const char* field, std::int64_t low, std::int64_t high) {
      return d.integer(d.at(field), field, low, high);
    };
    r.kind = d.string("learn");
    r.data = d.string("data");
    r.data_sum = d.string("data_sum");
    r.hidden = static_cast<int>(whole("hidden", 1, kMostRows));
    r.fields = d.boolean("fields");
    r.sampler = d.string("sampler");
    r.settings = d.at("settings").get<Settings>();
    r.plan.batch = static_cast<int>(whole("batch", 1, kMostRows));
    r.plan.drop_last = d.boolean("drop_last");
    r.plan.chains = static_cast<int>(whole("chains", 0, kMostRows));
    r.plan.steps = static_cast<std::uint64_t>(whole("steps", 1, kMostSteps));
    r.plan.l1 = d.number("l1");
    r.plan.adam.rate = d.number("lr");
    r.plan.seed = parse_seed(d.string("seed"));
    r.iterations = static_cast<std::uint64_t>(whole("iterations", 1, kMostSteps));
    r.out = d.string("out");
  });
  return r;
}

}  // namespace

LearnOptions::LearnOptions(CLI::App& command, std::string kind)
    : command_(command), given_(defaults(kind)) {
  LearnRequest& r = given_;
  command.add_option("--data", r.data, "Rows of 0 and 1: .npy, .npz, .csv, .amat or IDX")
      ->type_name("FILE");
  command.add_option("--out", r.out, "Write the model here: FILE.json")->type_name("FILE");
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
  LearnRequest& r = given_;
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
  r.add_options(command_, {"Save here now and then", "Go on with what this checkpoint holds",
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
  r.settings = with_files_read(parse_settings(set_));
  if (r.kind == "ising" && !was_given(command_, "--sampler") && r.settings.empty()) {
    r.settings["step_size"] = "0.15";
  }
}

LearnRequest LearnOptions::request() const {
  LearnRequest r = given_;
  if (was_given(command_, "--epochs") && was_given(command_, "--iterations")) {
    throw UsageError("--epochs and --iterations both say how long to learn: give one of them");
  }
  if (was_given(command_, "--iterations")) r.epochs = 0;
  if (was_given(command_, "--epochs")) r.iterations = 0;
  if (!r.resume.empty()) {
    r.claim_files();
    return resumed(r);
  }
  if (r.data.empty()) throw UsageError("say with --data FILE what to learn from");
  choose_phase(r);
  r.plan.seed = parse_seed(seed_);
  check_files(r);
  r.claim_files();
  return r;
}

// Everything that determines the model comes from the checkpoint.
LearnRequest LearnOptions::resumed(const LearnRequest& r) const {
  refuse_settled(command_,
                 {"--hidden", "--fields", "--cd", "--pcd", "--steps", "--sampler", "--set",
                  "--batch", "--drop-last", "--lr", "--l1", "--seed"},
                 r.resume);
  LearnRequest saved = described(read_checkpoint(r.resume).description, r.resume);
  if (saved.kind != r.kind) {
    throw UsageError(r.resume + " holds what 'saltus learn " + saved.kind + "' saved");
  }
  if (was_given(command_, "--epochs") || was_given(command_, "--iterations")) {
    saved.epochs = r.epochs;
    saved.iterations = r.iterations;
  }
  if (was_given(command_, "--data")) saved.data = r.data;
  if (was_given(command_, "--out")) saved.out = r.out;
  saved.plan.threads = r.plan.threads;
  static_cast<RunControl&>(saved) = r;
  check_files(saved);
  return saved;
}

std::string describe(const LearnRequest& r) {
  nlohmann::ordered_json d;
  d["version"] = version();
  d["learn"] = r.kind;
  d["data"] = std::filesystem::absolute(r.data).lexically_normal().string();
  d["data_sum"] = r.data_sum;
  d["hidden"] = r.hidden;
  d["fields"] = r.fields;
  d["sampler"] = r.sampler;
  d["settings"] = r.settings;
  d["batch"] = r.plan.batch;
  d["drop_last"] = r.plan.drop_last;
  d["chains"] = r.plan.chains;
  d["steps"] = r.plan.steps;
  d["l1"] = r.plan.l1;
  d["lr"] = r.plan.adam.rate;
  d["seed"] = std::to_string(r.plan.seed);
  d["iterations"] = r.iterations;
  d["out"] = r.out;
  return d.dump();
}

}  // namespace saltus::cli
