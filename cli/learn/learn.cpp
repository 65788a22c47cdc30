// saltus learn: from data to a model that 'saltus sample' draws from.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/learn/ebm.hpp"
#include "cli/learn/options.hpp"
#include "cli/learn/report.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "core/checksum.hpp"
#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"
#include "saltus/learn/trainable_ising.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "saltus/run/checkpoint.hpp"

namespace saltus::cli {
namespace {

constexpr double kMostParameters = 1 << 30;

// Tells other data from these.
std::string sum_of(Rows<const Symbol> rows) {
  Checksum sum;
  sum.add(static_cast<std::uint64_t>(rows.rows));
  sum.add(static_cast<std::uint64_t>(rows.cols));
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) sum.add(x);
  }
  return sum.text();
}

std::unique_ptr<Trainable> make_model(const LearnRequest& r, Rows<const Symbol> data) {
  const double other = r.kind == "rbm" ? r.hidden : data.cols;
  if (other * data.cols > kMostParameters) {
    throw UsageError(fmt::format("the model would have {} weights; at most {} are possible",
                                 rounded(other * data.cols), rounded(kMostParameters)));
  }
  if (r.kind == "rbm") return std::make_unique<TrainableRbm>(data, r.hidden, r.plan.seed);
  return std::make_unique<TrainableIsing>(data.cols, r.fields,
                                          TrainableIsing::Start{.seed = r.plan.seed});
}

class LearnRun {
 public:
  explicit LearnRun(LearnRequest request)
      : request_(std::move(request)), data_(read_binary_data(request_.data)) {
    const Rows<const Symbol> rows = data_.rows.view();
    const std::string sum = sum_of(rows);
    if (!request_.resume.empty() && request_.data_sum != sum) {
      throw DataError(request_.data + ": not the data that " + request_.resume + " learned from");
    }
    request_.data_sum = sum;
    request_.plan.batch = std::min(request_.plan.batch, rows.rows);
    model_ = make_model(request_, rows);
    learning_ = std::make_unique<ContrastiveDivergence>(
        *model_, rows, make_sampler(request_.sampler, model_->target(), request_.settings),
        request_.plan);
    if (request_.epochs > 0) {
      request_.iterations = learning_->batches().iterations(request_.epochs);
    }
    if (!request_.resume.empty()) restore();
  }

  // True when all iterations are done.
  bool go() {
    LearnProgress progress(totals_.iterations, request_.iterations);
    catch_interrupts();
    const auto start = std::chrono::steady_clock::now();
    const auto now = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    double saved_at = 0, save_seconds = 0;
    if (!request_.checkpoint.empty()) save();
    while (learning_->iteration() < request_.iterations && !signal_seen()) {
      totals_.add(learning_->step());
      progress.update(totals_, now());
      // A slow disk must not eat the run: at most a tenth of the time goes into saving.
      const double due = std::max(request_.checkpoint_every, 9 * save_seconds);
      if (!request_.checkpoint.empty() && now() - saved_at >= due) {
        const double before = now();
        save();
        saved_at = now();
        save_seconds = saved_at - before;
      }
      if (request_.time_limit > 0 && now() >= request_.time_limit) break;
    }
    progress.clear();
    stop_catching_interrupts();
    return learning_->iteration() >= request_.iterations;
  }

  // The model as it is now and, where the run ended early, how to go on.
  void finish(bool complete) {
    if (!complete && signal_seen() && request_.checkpoint.empty()) name_a_checkpoint();
    if (!request_.checkpoint.empty()) save();
    write_model();
    if (complete) return;
    say("Stopped after {} of {} iterations.", with_commas(learning_->iteration()),
        with_commas(request_.iterations));
    if (request_.checkpoint.empty()) {
      say(" Give --checkpoint FILE to be able to continue.\n");
    } else {
      say(" Saved in {}. To continue:\n  saltus learn {} --resume {}\n", request_.checkpoint,
          request_.kind, shell_word(request_.checkpoint));
    }
  }

  // Where a run is saved that could not go on, for a message.
  std::string where_saved() const {
    if (request_.checkpoint.empty() || !std::filesystem::exists(request_.checkpoint)) return "";
    return fmt::format("The last save is {}. To continue:\n  saltus learn {} --resume {}\n",
                       request_.checkpoint, request_.kind, shell_word(request_.checkpoint));
  }

  LearnReport report(bool complete) const {
    return {request_, *learning_, totals_, data_.rows.view().rows, data_.rows.view().cols,
            complete};
  }
  bool json() const { return request_.json; }

 private:
  void save() const {
    ByteWriter out;
    out.put(totals_);
    learning_->save(out);
    write_checkpoint(request_.checkpoint, describe(request_), out.bytes());
  }

  void restore() {
    const Checkpoint checkpoint = read_checkpoint(request_.resume);
    ByteReader in(checkpoint.state);
    try {
      totals_ = in.get<LearnTotals>();
      learning_->restore(in);
    } catch (const DataError& e) {
      throw DataError(request_.resume + ": the checkpoint does not fit (" + e.what() + ")");
    }
    if (request_.iterations < learning_->iteration()) {
      throw UsageError(fmt::format("{} has done {} iterations already", request_.resume,
                                   with_commas(learning_->iteration())));
    }
  }

  // What was interrupted without --checkpoint, or cannot be written, is saved all the same.
  void name_a_checkpoint() {
    request_.checkpoint = request_.files->new_checkpoint(
        {"", std::filesystem::path(request_.out).parent_path() / "", temporary_folder()});
  }

  void write_model() {
    try {
      model_->write(request_.out);
    } catch (const FileError& e) {
      if (request_.checkpoint.empty()) {
        name_a_checkpoint();
        save();
      }
      throw EndError(
          cannot_create, e.what(),
          fmt::format("What was learned is saved in {}. To write it elsewhere:\n"
                      "  saltus learn {} --resume {} --out FILE.json\n",
                      request_.checkpoint, request_.kind, shell_word(request_.checkpoint)));
    }
  }

  LearnRequest request_;
  DataSet data_;
  std::unique_ptr<Trainable> model_;
  std::unique_ptr<ContrastiveDivergence> learning_;
  LearnTotals totals_;
};

int learn(LearnRequest request) {
  LearnRun run(std::move(request));
  bool complete = false;
  try {
    complete = run.go();
  } catch (const FileError& e) {
    throw EndError(e.writing ? cannot_create : no_input, e.what(), run.where_saved());
  }
  run.finish(complete);
  const LearnReport report = run.report(complete);
  if (run.json()) {
    show_json(report_json(report));
  } else {
    print_report(report);
  }
  return complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_learn(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("learn", "Learn a model from data");
  command->require_subcommand(1);
  const auto add = [&](const char* kind, const char* summary) {
    CLI::App* one = command->add_subcommand(kind, summary);
    auto options = std::make_shared<LearnOptions>(*one, kind);
    one->callback([options, &status] { status = learn(options->request()); });
  };
  add("rbm", "Restricted Boltzmann machine");
  add("ising", "Ising model with couplings between all spins");
  add_learn_ebm(*command, status);
}

}  // namespace saltus::cli
