// saltus learn ebm: a deep energy of binary images, in a folder of its own.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/learn/ebm.hpp"
#include "cli/learn/ebm_options.hpp"
#include "cli/learn/report.hpp"
#include "cli/option_checks.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/file_lock.hpp"
#include "io/bytes/new_file.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/ebm_images.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

class LearnEbm {
 public:
  explicit LearnEbm(LearnEbmCommand command)
      : command_(std::move(command)),
        images_(load_images(command_.dataset, data_folder(command_.data))) {
    command_.request.images = &images_;
    if (command_.request.resume && sum_of(images_) != command_.request.data_sum) {
      throw DataError(command_.dataset + ": not the data that " +
                      command_.request.setup.folder.string() + " learned from");
    }
    run_ = std::make_unique<DeepRun>(command_.request);
    make_folder();
    claim();
    run_->start();
  }
  LearnEbm(const LearnEbm&) = delete;  // the run points to the images
  LearnEbm& operator=(const LearnEbm&) = delete;

  // True when all iterations are done.
  bool go() {
    Progress progress;
    return run_->go([&](const LearnStatus& status) {
      return progress.update(status.seconds, [&] { return line_of(status); });
    });
  }

  void say_how_to_continue() const {
    say("Stopped after {} of {} iterations. Saved in {}. To continue:\n"
        "  saltus learn ebm --out {} --resume\n",
        with_commas(run_->run().learning().iteration()),
        with_commas(command_.request.setup.plan.iterations), command_.request.setup.folder.string(),
        shell_word(command_.request.setup.folder.string()));
  }

  void print(bool complete) const {
    if (command_.json) {
      show_json(summary(complete));
    } else {
      print_text();
    }
  }

 private:
  void make_folder() const {
    const std::filesystem::path& folder = command_.request.setup.folder;
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure || !std::filesystem::is_directory(folder)) {
      throw FileError(fmt::format("cannot make the folder {}: {}", folder.string(),
                                  failure ? failure.message() : "there is a file of this name"),
                      true);
    }
    check_writable(EbmRun::checkpoint_in(folder));
  }

  // One learning at a time in a folder, and none on top of another.
  void claim() {
    const std::filesystem::path file = EbmRun::checkpoint_in(command_.request.setup.folder);
    lock_ = std::make_unique<FileLock>(file);
    if (!command_.request.resume && std::filesystem::exists(file)) {
      throw UsageError(command_.request.setup.folder.string() +
                       " holds an earlier learning: go on with --resume, or name a new folder");
    }
    remove_abandoned(file);
  }

  void print_text() const {
    const EbmLearning& learning = run_->run().learning();
    const EbmSetup& setup = run_->request().setup;
    const auto row = [](const char* name, const std::string& value) {
      show("{:<12} {}\n", name, value);
    };
    const auto count = [](auto n) { return with_commas(static_cast<std::uint64_t>(n)); };
    row("model", fmt::format("resnet-ebm, {} x {} pixels, {} channels, {} blocks, {} parameters",
                             setup.shape.height, setup.shape.width, setup.shape.channels,
                             setup.shape.blocks, count(parameter_count(setup.shape))));
    row("data", fmt::format("{}, {} images{}", command_.dataset, count(images_.train.rows()),
                            images_.grey ? ", bits drawn anew for every batch" : ""));
    row("method", fmt::format("{} of {} chains x {} steps of {}", setup.plan.batch,
                              count(setup.plan.buffer), count(setup.plan.steps), setup.sampler));
    row("learned",
        fmt::format("{} iterations, {} times through the data", count(learning.iteration()),
                    short_number(learning.batches().epochs(learning.iteration()))));
    if (!learning.history().empty()) {
      const EbmInfo& now = learning.history().back();
      row("time", fmt::format("{}; sampling {} ms, update {} ms per iteration",
                              duration(now.seconds), short_number(1e3 * now.sampling_seconds),
                              short_number(1e3 * now.update_seconds)));
      row("now", fmt::format("loss {}  acceptance {:.3f}  changes {:.1f}", short_number(now.loss()),
                             now.acceptance, now.changed));
    }
    if (const Validation* best = learning.best()) {
      row("validation", fmt::format("best log-likelihood {:.2f} (at most; standard error {:.2f}, "
                                    "{:.0f} of {} chains) after {} iterations",
                                    best->log_likelihood(), best->standard_error, best->ess,
                                    setup.plan.validation_chains, count(best->iteration)));
    }
    if (const std::string why = run_->doubts(); !why.empty()) row("warning", why);
    row("written", (setup.folder / (learning.best() ? "best.json" : "last.json")).string());
  }

  nlohmann::ordered_json summary(bool complete) const {
    const EbmLearning& learning = run_->run().learning();
    const EbmSetup& setup = run_->request().setup;
    nlohmann::ordered_json j;
    j["model"] = "resnet-ebm";
    j["shape"] = {setup.shape.height, setup.shape.width};
    j["channels"] = setup.shape.channels;
    j["blocks"] = setup.shape.blocks;
    j["network_parameters"] = parameter_count(setup.shape);
    j["dataset"] = command_.dataset;
    j["rows"] = images_.train.rows();
    j["redrawn"] = images_.grey;
    j["sampler"] = setup.sampler;
    j["parameters"] = parameters_json(learning.sampler().parameters());
    j["batch"] = setup.plan.batch;
    j["buffer"] = setup.plan.buffer;
    j["steps"] = setup.plan.steps;
    j["lr"] = setup.plan.rate;
    j["lr_warmup"] = setup.plan.rate_warmup;
    j["average_decay"] = command_.request.network.average_decay;
    j["energy_penalty"] = command_.request.network.energy_penalty;
    j["seed"] = setup.plan.seed;
    j["device"] = command_.device;
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
    if (const std::string why = run_->doubts(); !why.empty()) j["warning"] = why;
    j["out"] = setup.folder.string();
    j["complete"] = complete;
    j["version"] = version();
    return j;
  }

  LearnEbmCommand command_;
  ImageSet images_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<DeepRun> run_;
};

int learn_ebm(LearnEbmCommand command) {
  LearnEbm learn(std::move(command));
  const bool complete = learn.go();
  if (!complete) learn.say_how_to_continue();
  learn.print(complete);
  return complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_learn_ebm(CLI::App& learn, int& status) {
  CLI::App* command = learn.add_subcommand("ebm", "Deep energy of binary images (needs libtorch)");
  auto options = std::make_shared<LearnEbmOptions>(*command);
  command->callback([options, &status] { status = learn_ebm(options->complete()); });
}

}  // namespace saltus::cli
