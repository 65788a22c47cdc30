#include "cli/learn/ebm_options.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/learn/description.hpp"
#include "cli/option_checks.hpp"
#include "cli/sample/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "reproduce/data/ebm_images.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostImages = 100'000'000;

LearnEbmRequest described_ebm(const std::string& text, const std::string& source) {
  LearnEbmRequest r;
  read_description(text, source, [&](JsonFields& d) {
    if (d.string("learn") != "ebm") {
      throw DataError(source + ": not a checkpoint of 'saltus learn ebm'");
    }
    const auto whole = [&](const char* field, std::int64_t low, std::int64_t high) {
      return d.integer(d.at(field), field, low, high);
    };
    const auto count = [&](const char* field, std::int64_t low) {
      return static_cast<int>(whole(field, low, kMostImages));
    };
    const auto long_count = [&](const char* field, std::int64_t low) {
      return static_cast<std::uint64_t>(whole(field, low, kMostSteps));
    };
    EbmPlan& plan = r.setup.plan;
    r.dataset = d.string("dataset");
    r.data_sum = d.string("data_sum");
    r.data = d.string("data");
    r.setup.shape.channels = count("channels", 1);
    r.setup.shape.blocks = count("blocks", 1);
    r.setup.shape.halvings = count("halvings", 0);
    r.setup.sampler = d.string("sampler");
    r.setup.settings = d.at("settings").get<Settings>();
    plan.batch = count("batch", 1);
    plan.buffer = count("buffer", 1);
    plan.steps = long_count("steps", 1);
    plan.rate = d.number("lr");
    plan.rate_warmup = long_count("lr_warmup", 0);
    r.network.average_decay = d.number("average_decay");
    r.network.energy_penalty = d.number("energy_penalty");
    plan.iterations = long_count("iterations", 1);
    plan.validate_every = long_count("validate_every", 0);
    plan.validation_betas = count("validation_betas", 2);
    plan.validation_chains = count("validation_chains", 4);
    plan.seed = parse_seed(d.string("seed"));
    r.device = d.string("device");
    r.precision = d.string("precision");
  });
  return r;
}

// A path that means the same from any folder; a data set's name stays as it is.
std::string settled(const std::string& path) {
  if (path.empty() || is_image_set(path)) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

LearnEbmOptions::LearnEbmOptions(CLI::App& command) : command_(command) {
  LearnEbmRequest& r = given_;
  command
      .add_option("--dataset", r.dataset,
                  "static_mnist, dynamic_mnist, omniglot, caltech, or a file of rows of 0 and 1")
      ->type_name("NAME|FILE");
  command.add_option("--data", r.data, "Folder of data sets (default: $SALTUS_DATA)")
      ->type_name("DIR");
  command.add_option("--out", out_, "Folder for the model, samples, curves and the checkpoint")
      ->type_name("DIR");
  add_network(r);
  add_learning(r);
  add_running(r);
}

void LearnEbmOptions::add_network(LearnEbmRequest& r) {
  ResnetShape& shape = r.setup.shape;
  command_.add_option("--channels", shape.channels, "Channels of the network")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command_.add_option("--blocks", shape.blocks, "Residual blocks, the first two of stride 2")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command_.add_option("--device", r.device, "Where the network is computed")
      ->capture_default_str()
      ->type_name("cpu|cuda");
  command_.add_option("--precision", r.precision, "Of the network on a GPU (default: the fastest)")
      ->type_name("single|tf32|half");
}

void LearnEbmOptions::add_learning(LearnEbmRequest& r) {
  EbmPlan& plan = r.setup.plan;
  const auto whole = CLI::Range(std::int64_t{1}, kMostSteps);
  const auto rows = CLI::Range(1, kMostImages);
  command_.add_option("--sampler", r.setup.sampler, "What moves the chains ('saltus samplers')")
      ->capture_default_str();
  command_
      .add_option("--set", set_,
                  "Sampler parameter KEY=VALUE, repeatable; dmala has step_size=0.15, dula 0.1")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command_.add_option("--steps", plan.steps, "Steps of the chains in an iteration")
      ->capture_default_str()
      ->check(whole);
  command_.add_option("--iterations", plan.iterations, "Batches to learn from")
      ->capture_default_str()
      ->check(whole);
  command_.add_option("--batch", plan.batch, "Images, and chains, in an iteration")
      ->capture_default_str()
      ->check(rows);
  command_.add_option("--buffer", buffer_, "Chains that take turns")
      ->type_name("N=10000 (caltech: 1000)")
      ->check(rows);
  command_.add_option("--lr", plan.rate, "Learning rate of Adam")
      ->capture_default_str()
      ->check(finite_number(0));
  command_.add_option("--lr-warmup", plan.rate_warmup, "Iterations in which the rate grows from 0")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, kMostSteps));
  command_
      .add_option("--average-decay", r.network.average_decay,
                  "How slowly the average of the parameters follows: 0 to less than 1")
      ->capture_default_str()
      ->check(finite_number(0));
  command_
      .add_option("--energy-penalty", r.network.energy_penalty,
                  "Weight of the mean squares of f in the loss, say 1e-4: keeps f from growing")
      ->capture_default_str()
      ->check(finite_number(0));
  command_
      .add_option("--validate-every", plan.validate_every,
                  "Iterations between estimates of the validation log-likelihood; 0: never")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, kMostSteps));
  command_.add_option("--validation-betas", plan.validation_betas, "Betas of such an estimate")
      ->capture_default_str()
      ->check(CLI::Range(2, kMostImages));
  command_.add_option("--validation-chains", plan.validation_chains, "Its chains")
      ->capture_default_str()
      ->check(CLI::Range(4, kMostImages));
  command_.add_option("--seed", seed_, "Random seed, 0 to 2^64 - 1")->capture_default_str();
}

void LearnEbmOptions::add_running(LearnEbmRequest& r) {
  command_
      .add_option("--threads", r.setup.plan.threads,
                  "Threads (default: all cores); never changes the model")
      ->check(CLI::Range(1, 4096));
  command_.add_flag("--json", r.json, "Print the summary as JSON, and nothing else");
  command_
      .add_option("--checkpoint-every", r.setup.checkpoint_every, "Seconds between checkpoints")
      ->capture_default_str()
      ->check(finite_number(0));
  command_.add_flag("--resume", r.resume, "Go on with what the folder --out holds");
  command_.add_option("--time", r.time_limit, "Stop after so many seconds")
      ->type_name("SECONDS")
      ->check(finite_number(1e-9));
}

LearnEbmRequest LearnEbmOptions::request() const {
  LearnEbmRequest r = given_;
  if (out_.empty()) throw UsageError("say with --out DIR where the model goes");
  r.setup.folder = out_;
  if (r.network.average_decay >= 1) throw UsageError("--average-decay must be less than 1");
  parse_device(r.device);
  if (!r.precision.empty()) parse_precision(r.precision);
  if (r.resume) return resumed(r);
  if (r.dataset.empty()) throw UsageError("say with --dataset NAME|FILE what to learn from");
  if (std::filesystem::exists(EbmRun::checkpoint_in(r.setup.folder))) {
    throw UsageError(out_ +
                     " holds an earlier learning: go on with --resume, or name a new folder");
  }
  r.setup.settings = with_step_size(r.setup.sampler, with_files_read(parse_settings(set_)));
  r.setup.plan.seed = parse_seed(seed_);
  r.setup.plan.buffer = buffer_ > 0 ? buffer_ : published_buffer(r.dataset);
  r.setup.shape.halvings = std::min(r.setup.shape.halvings, r.setup.shape.blocks);
  return r;
}

// Everything that determines the model comes from the checkpoint.
LearnEbmRequest LearnEbmOptions::resumed(const LearnEbmRequest& r) const {
  refuse_settled(command_,
                 {"--dataset", "--channels", "--blocks", "--sampler", "--set", "--steps", "--batch",
                  "--buffer", "--lr", "--lr-warmup", "--average-decay", "--energy-penalty",
                  "--validate-every", "--validation-betas", "--validation-chains", "--seed"},
                 "in " + out_);
  const std::filesystem::path file = EbmRun::checkpoint_in(r.setup.folder);
  LearnEbmRequest saved = described_ebm(read_checkpoint(file).description, file.string());
  if (was_given(command_, "--iterations")) saved.setup.plan.iterations = r.setup.plan.iterations;
  if (was_given(command_, "--data")) saved.data = r.data;
  if (was_given(command_, "--device")) saved.device = r.device;
  if (was_given(command_, "--precision")) saved.precision = r.precision;
  saved.setup.plan.threads = r.setup.plan.threads;
  saved.setup.folder = r.setup.folder;
  saved.setup.checkpoint_every = r.setup.checkpoint_every;
  saved.resume = true;
  saved.json = r.json;
  saved.time_limit = r.time_limit;
  return saved;
}

std::string describe(const LearnEbmRequest& r) {
  const EbmPlan& plan = r.setup.plan;
  nlohmann::ordered_json d;
  d["version"] = version();
  d["learn"] = "ebm";
  d["dataset"] = settled(r.dataset);
  d["data_sum"] = r.data_sum;
  d["data"] = settled(r.data);
  d["channels"] = r.setup.shape.channels;
  d["blocks"] = r.setup.shape.blocks;
  d["halvings"] = r.setup.shape.halvings;
  d["sampler"] = r.setup.sampler;
  d["settings"] = r.setup.settings;
  d["batch"] = plan.batch;
  d["buffer"] = plan.buffer;
  d["steps"] = plan.steps;
  d["lr"] = plan.rate;
  d["lr_warmup"] = plan.rate_warmup;
  d["average_decay"] = r.network.average_decay;
  d["energy_penalty"] = r.network.energy_penalty;
  d["iterations"] = plan.iterations;
  d["validate_every"] = plan.validate_every;
  d["validation_betas"] = plan.validation_betas;
  d["validation_chains"] = plan.validation_chains;
  d["seed"] = std::to_string(plan.seed);
  d["device"] = r.device;
  d["precision"] = r.precision;
  return d.dump();
}

}  // namespace saltus::cli
