// saltus learn ebm: a deep energy of binary images, in a folder of its own.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/new_file.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/image_sets.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostImages = 100'000'000;

// A path that means the same from any folder; a data set's name stays as it is.
std::string settled(const std::string& path) {
  if (path.empty() || is_image_set(path)) return path;
  return std::filesystem::absolute(path).lexically_normal().string();
}

struct LearnEbmCommand {
  DeepRequest request;
  std::string dataset;  // name or file
  std::string data;     // folder of data sets
  std::string device = "cpu", precision;
  bool json = false;
};

// Binds the options of 'saltus learn ebm' to the request.
class LearnEbmOptions {
 public:
  explicit LearnEbmOptions(CLI::App& command) : command_(command) {
    LearnEbmCommand& c = given_;
    add_typed(command, "--dataset", c.dataset,
              "static_mnist, dynamic_mnist, omniglot, caltech, or a file of rows of 0 and 1",
              "NAME|FILE");
    add_data_folder(command, c.data);
    add_typed(command, "--out", out_, "Folder for the model, samples, curves and the checkpoint",
              "DIR");
    add_network(c);
    add_learning(c);
    add_running(c);
  }

  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnEbmCommand complete() const {
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
    r.setup.settings = learning_settings(r.setup.sampler, with_files_read(parse_settings(set_)));
    r.setup.plan.seed = parse_seed(seed_);
    r.setup.plan.buffer = buffer_ > 0 ? buffer_ : published_buffer(c.dataset);
    r.setup.shape.halvings = std::min(r.setup.shape.halvings, r.setup.shape.blocks);
    return c;
  }

 private:
  void add_network(LearnEbmCommand& c) {
    ResnetShape& shape = c.request.setup.shape;
    add_default(command_, "--channels", shape.channels, "Channels of the network",
                whole_number(1, 4096));
    add_default(command_, "--blocks", shape.blocks, "Residual blocks, the first two of stride 2",
                whole_number(1, 1000));
    add_default(command_, "--device", c.device, "Where the network is computed")
        ->type_name("cpu|cuda");
    add_typed(command_, "--precision", c.precision,
              "Of the network on a GPU (default: the fastest)", "single|tf32|half");
  }

  void add_learning(LearnEbmCommand& c) {
    EbmPlan& plan = c.request.setup.plan;
    const auto rows = whole_number(1, kMostImages);
    add_default(command_, "--sampler", c.request.setup.sampler,
                "What moves the chains ('saltus samplers')");
    add_settings(command_, set_, "; dmala has step_size=0.15, dula 0.1");
    add_default(command_, "--steps", plan.steps, "Steps of the chains in an iteration",
                steps_from(1));
    add_default(command_, "--iterations", plan.iterations, "Batches to learn from", steps_from(1));
    add_default(command_, "--batch", plan.batch, "Images, and chains, in an iteration", rows);
    add_typed(command_, "--buffer", buffer_, "Chains that take turns", "N=10000 (caltech: 1000)")
        ->transform(rows);
    add_default(command_, "--lr", plan.rate, "Learning rate of Adam", finite_number(0));
    add_default(command_, "--lr-warmup", plan.rate_warmup,
                "Iterations in which the rate grows from 0", steps_from(0));
    add_default(command_, "--lr-decay", plan.rate_decay,
                "Share of the iterations, the last ones, in which the rate falls to 0",
                finite_number(0));
    add_default(command_, "--gwg-steps", plan.gwg_steps,
                "Of the steps of an iteration, those by gwg, one pixel at a time", steps_from(0));
    add_default(command_, "--restart", plan.restart,
                "Chance that a chain starts anew when its turn comes, say 0.01", finite_number(0));
    add_default(command_, "--average-decay", c.request.network.average_decay,
                "How slowly the average of the parameters follows: 0 to less than 1",
                finite_number(0));
    add_default(command_, "--energy-penalty", c.request.network.energy_penalty,
                "Weight of the mean squares of f in the loss, say 1e-4: keeps f from growing",
                finite_number(0));
    add_default(command_, "--validate-every", plan.validate_every,
                "Iterations between estimates of the validation log-likelihood; 0: never",
                steps_from(0));
    add_default(command_, "--validation-betas", plan.validation_betas, "Betas of such an estimate",
                whole_number(2, kMostImages));
    add_default(command_, "--validation-chains", plan.validation_chains, "Its chains",
                whole_number(4, kMostImages));
    add_seed(command_, seed_);
  }

  void add_running(LearnEbmCommand& c) {
    add_threads(command_, c.request.setup.plan.threads, "the model");
    command_.add_flag("--json", c.json, "Print the summary as JSON, and nothing else");
    add_default(command_, "--checkpoint-every", c.request.setup.checkpoint_every,
                "Seconds between checkpoints", finite_number(0));
    command_.add_flag("--resume", c.request.resume, "Go on with what the folder --out holds");
    add_typed(command_, "--time", c.request.time_limit, "Stop after this many seconds", "SECONDS")
        ->check(finite_number(1e-9));
  }

  // Everything that determines the model comes from the checkpoint.
  LearnEbmCommand resumed(LearnEbmCommand c) const {
    refuse_settled(command_,
                   {"--dataset", "--channels", "--blocks", "--sampler", "--set", "--steps",
                    "--batch", "--buffer", "--lr", "--lr-warmup", "--lr-decay", "--gwg-steps",
                    "--restart", "--average-decay", "--energy-penalty", "--validate-every",
                    "--validation-betas", "--validation-chains", "--seed"},
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

  CLI::App& command_;
  LearnEbmCommand given_;
  std::vector<std::string> set_;
  std::string seed_ = "1", out_;
  int buffer_ = 0;
};

// One learning at a time in a folder, and none on top of another.
std::unique_ptr<FileLock> claim(const DeepRequest& request) {
  const std::filesystem::path &folder = request.setup.folder, file = EbmRun::checkpoint_in(folder);
  make_folder(folder, file);
  auto lock = std::make_unique<FileLock>(file);
  if (!request.resume && std::filesystem::exists(file)) {
    throw UsageError(folder.string() +
                     " holds an earlier learning: go on with --resume, or name a new folder");
  }
  remove_abandoned(file);
  return lock;
}

void print_text(const LearnEbmCommand& command, const DeepRun& run) {
  const EbmLearning& learning = run.run().learning();
  const EbmSetup& setup = run.request().setup;
  show_row("model", fmt::format("resnet-ebm, {} x {} pixels, {} channels, {} blocks, {} parameters",
                                setup.shape.height, setup.shape.width, setup.shape.channels,
                                setup.shape.blocks, count(parameter_count(setup.shape))));
  show_row(
      "data",
      fmt::format("{}, {} images{}", command.dataset, count(command.request.images->train.rows()),
                  command.request.images->grey ? ", bits drawn anew for every batch" : ""));
  show_row("method", fmt::format("{} of {} chains x {} steps of {}", setup.plan.batch,
                                 count(setup.plan.buffer), count(setup.plan.steps), setup.sampler));
  show_row("learned",
           fmt::format("{} iterations, {} times through the data", count(learning.iteration()),
                       short_number(learning.batches().epochs(learning.iteration()))));
  if (!learning.history().empty()) {
    const EbmInfo& now = learning.history().back();
    show_row("time", fmt::format("{}; sampling {} ms, update {} ms per iteration",
                                 duration(now.seconds), short_number(1e3 * now.sampling_seconds),
                                 short_number(1e3 * now.update_seconds)));
    show_row("now", fmt::format("loss {}  acceptance {:.3f}  changes {:.1f}",
                                short_number(now.loss()), now.acceptance, now.changed));
  }
  if (const Validation* best = learning.best()) {
    show_row("validation", fmt::format("best log-likelihood {:.2f} (at most; standard error "
                                       "{:.2f}, {:.0f} of {} chains) after {} iterations",
                                       best->log_likelihood(), best->standard_error, best->ess,
                                       setup.plan.validation_chains, count(best->iteration)));
  }
  if (const std::string why = run.doubts(); !why.empty()) show_row("warning", why);
  show_row("written", (setup.folder / (learning.best() ? "best.json" : "last.json")).string());
}

Json summary(const LearnEbmCommand& command, const DeepRun& run, bool complete) {
  const EbmLearning& learning = run.run().learning();
  const EbmSetup& setup = run.request().setup;
  Json j;
  j["model"] = "resnet-ebm";
  j["shape"] = {setup.shape.height, setup.shape.width};
  j["channels"] = setup.shape.channels;
  j["blocks"] = setup.shape.blocks;
  j["network_parameters"] = parameter_count(setup.shape);
  j["dataset"] = command.dataset;
  j["rows"] = command.request.images->train.rows();
  j["redrawn"] = command.request.images->grey;
  j["sampler"] = setup.sampler;
  j["parameters"] = parameters_json(learning.sampler().parameters());
  j["batch"] = setup.plan.batch;
  j["buffer"] = setup.plan.buffer;
  j["steps"] = setup.plan.steps;
  j["lr"] = setup.plan.rate;
  j["lr_warmup"] = setup.plan.rate_warmup;
  j["lr_decay"] = setup.plan.rate_decay;
  j["gwg_steps"] = setup.plan.gwg_steps;
  j["restart"] = setup.plan.restart;
  j["average_decay"] = command.request.network.average_decay;
  j["energy_penalty"] = command.request.network.energy_penalty;
  j["seed"] = setup.plan.seed;
  j["device"] = command.device;
  j["iterations"] = learning.iteration();
  const EbmInfo now = learning.history().empty() ? EbmInfo{} : learning.history().back();
  j["loss"] = json_number(now.loss());
  j["acceptance_rate"] = json_number(now.acceptance);
  j["proposed_changes"] = json_number(now.proposed);
  j["changes"] = json_number(now.changed);
  j["seconds"] = json_number(now.seconds);
  j["seconds_per_iteration"] = {{"sampling", json_number(now.sampling_seconds)},
                                {"update", json_number(now.update_seconds)}};
  j["best_validation"] = nullptr;
  if (const Validation* best = learning.best()) {
    j["best_validation"] = {{"iteration", best->iteration},
                            {"log_likelihood", json_number(best->log_likelihood())},
                            {"log_z", json_number(best->log_z)},
                            {"standard_error", json_number(best->standard_error)},
                            {"ess", json_number(best->ess)}};
  }
  j["validations"] = learning.validations().size();
  j["warning"] = nullptr;
  if (const std::string why = run.doubts(); !why.empty()) j["warning"] = why;
  j["out"] = setup.folder.string();
  j["complete"] = complete;
  j["version"] = version();
  return j;
}

int learn_ebm(LearnEbmCommand command) {
  const ImageSet images = load_images(command.dataset, data_folder(command.data));
  DeepRequest& request = command.request;
  const std::string folder = request.setup.folder.string();
  request.images = &images;
  if (request.resume && sum_of(images) != request.data_sum) {
    throw DataError(command.dataset + ": not the data that " + folder + " learned from");
  }
  set_how_to_continue("--out " + shell_word(folder) + " --resume");
  request.setup.plan.team = team();
  DeepRun run(request);
  const auto lock = leads() ? claim(request) : nullptr;
  run.start();
  const bool complete = go(run);
  if (!leads()) return ok;
  if (!complete) {
    say("Stopped after {} of {} iterations. Saved in {}. To continue:\n"
        "  saltus learn ebm --out {} --resume\n",
        with_commas(run.run().learning().iteration()), with_commas(request.setup.plan.iterations),
        folder, shell_word(folder));
  }
  command.json ? show_json(summary(command, run, complete)) : print_text(command, run);
  return complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_learn_ebm(CLI::App& learn, int& status) {
  CLI::App* command = learn.add_subcommand("ebm", "Deep energy of binary images (needs libtorch)");
  auto options = std::make_shared<LearnEbmOptions>(*command);
  command->callback([options, &status] { status = learn_ebm(options->complete()); });
}

}  // namespace saltus::cli
