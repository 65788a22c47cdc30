#include "cli/learn/ebm_options.hpp"

#include <filesystem>

#include "cli/option_checks.hpp"
#include "cli/sample/options.hpp"
#include "reproduce/data/ebm_images.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostImages = 100'000'000;

// A path that means the same from any folder; a data set's name stays as it is.
std::string settled(const std::string& path) {
  if (path.empty() || is_image_set(path)) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

}  // namespace

LearnEbmOptions::LearnEbmOptions(CLI::App& command) : command_(command) {
  LearnEbmCommand& c = given_;
  command
      .add_option("--dataset", c.dataset,
                  "static_mnist, dynamic_mnist, omniglot, caltech, or a file of rows of 0 and 1")
      ->type_name("NAME|FILE");
  command.add_option("--data", c.data, "Folder of data sets (default: $SALTUS_DATA)")
      ->type_name("DIR");
  command.add_option("--out", out_, "Folder for the model, samples, curves and the checkpoint")
      ->type_name("DIR");
  add_network(c);
  add_learning(c);
  add_running(c);
}

void LearnEbmOptions::add_network(LearnEbmCommand& c) {
  ResnetShape& shape = c.request.setup.shape;
  command_.add_option("--channels", shape.channels, "Channels of the network")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command_.add_option("--blocks", shape.blocks, "Residual blocks, the first two of stride 2")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command_.add_option("--device", c.device, "Where the network is computed")
      ->capture_default_str()
      ->type_name("cpu|cuda");
  command_.add_option("--precision", c.precision, "Of the network on a GPU (default: the fastest)")
      ->type_name("single|tf32|half");
}

void LearnEbmOptions::add_learning(LearnEbmCommand& c) {
  EbmPlan& plan = c.request.setup.plan;
  const auto whole = CLI::Range(std::int64_t{1}, kMostSteps);
  const auto rows = CLI::Range(1, kMostImages);
  command_
      .add_option("--sampler", c.request.setup.sampler, "What moves the chains ('saltus samplers')")
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
      .add_option("--average-decay", c.request.network.average_decay,
                  "How slowly the average of the parameters follows: 0 to less than 1")
      ->capture_default_str()
      ->check(finite_number(0));
  command_
      .add_option("--energy-penalty", c.request.network.energy_penalty,
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

void LearnEbmOptions::add_running(LearnEbmCommand& c) {
  command_
      .add_option("--threads", c.request.setup.plan.threads,
                  "Threads (default: all cores); never changes the model")
      ->check(CLI::Range(1, 4096));
  command_.add_flag("--json", c.json, "Print the summary as JSON, and nothing else");
  command_
      .add_option("--checkpoint-every", c.request.setup.checkpoint_every,
                  "Seconds between checkpoints")
      ->capture_default_str()
      ->check(finite_number(0));
  command_.add_flag("--resume", c.request.resume, "Go on with what the folder --out holds");
  command_.add_option("--time", c.request.time_limit, "Stop after so many seconds")
      ->type_name("SECONDS")
      ->check(finite_number(1e-9));
}

LearnEbmCommand LearnEbmOptions::complete() const {
  LearnEbmCommand c = given_;
  DeepRequest& r = c.request;
  if (out_.empty()) throw UsageError("say with --out DIR where the model goes");
  r.setup.folder = out_;
  if (r.network.average_decay >= 1) throw UsageError("--average-decay must be less than 1");
  if (r.resume) c = resumed(std::move(c));
  r.device = {parse_device(c.device), {}};
  if (!c.precision.empty()) r.device.precision = parse_precision(c.precision);
  r.notes = {{"dataset", settled(c.dataset)},
             {"data", settled(c.data)},
             {"device", c.device},
             {"precision", c.precision}};
  if (r.resume) return c;
  if (c.dataset.empty()) throw UsageError("say with --dataset NAME|FILE what to learn from");
  if (std::filesystem::exists(EbmRun::checkpoint_in(r.setup.folder))) {
    throw UsageError(out_ +
                     " holds an earlier learning: go on with --resume, or name a new folder");
  }
  r.setup.settings = with_step_size(r.setup.sampler, with_files_read(parse_settings(set_)));
  r.setup.plan.seed = parse_seed(seed_);
  r.setup.plan.buffer = buffer_ > 0 ? buffer_ : published_buffer(c.dataset);
  r.setup.shape.halvings = std::min(r.setup.shape.halvings, r.setup.shape.blocks);
  return c;
}

// Everything that determines the model comes from the checkpoint.
LearnEbmCommand LearnEbmOptions::resumed(LearnEbmCommand c) const {
  refuse_settled(command_,
                 {"--dataset", "--channels", "--blocks", "--sampler", "--set", "--steps", "--batch",
                  "--buffer", "--lr", "--lr-warmup", "--average-decay", "--energy-penalty",
                  "--validate-every", "--validation-betas", "--validation-chains", "--seed"},
                 "in " + out_);
  parse_device(c.device);
  if (!c.precision.empty()) parse_precision(c.precision);
  const DeepRequest& r = c.request;
  DeepRequest saved = resumed_deep_learning(r.setup.folder);
  c.dataset = saved.notes["dataset"];
  if (!was_given(command_, "--data")) c.data = saved.notes["data"];
  if (!was_given(command_, "--device")) c.device = saved.notes["device"];
  if (!was_given(command_, "--precision")) c.precision = saved.notes["precision"];
  if (was_given(command_, "--iterations")) saved.setup.plan.iterations = r.setup.plan.iterations;
  saved.setup.plan.threads = r.setup.plan.threads;
  saved.setup.checkpoint_every = r.setup.checkpoint_every;
  saved.time_limit = r.time_limit;
  c.request = std::move(saved);
  return c;
}

}  // namespace saltus::cli
