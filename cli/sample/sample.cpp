// saltus sample: from a model to diagnosed draws.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/sample/options.hpp"
#include "cli/sample/report.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/new_file.hpp"
#include "io/draws/start_file.hpp"
#include "saltus/compare/race.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

// Diagnostics of more numbers than this would take longer than many a run.
constexpr double kWatchedDraws = 5e8;
constexpr int kMostWatched = 10000;
// State evaluations times coordinates up to which exact answers are computed beside the estimates.
constexpr double kExactWork = 1e9;

// How many coordinates are diagnosed.
int watched_count(int dim, const RunPlan& plan) {
  const double per_coordinate = static_cast<double>(plan.draws) * plan.chains;
  const int most = static_cast<int>(std::clamp(kWatchedDraws / per_coordinate, 16.0, 1e9));
  return std::min({dim, most, kMostWatched});
}

// `count` coordinates, evenly spread.
std::vector<int> spread_coordinates(int dim, int count) {
  std::vector<int> list;
  for (int c = 0; c < count; ++c) list.push_back(static_cast<int>(std::int64_t{c} * dim / count));
  return list;
}

// Some columns of draws that hold more.
class SomeColumns final : public Draws {
 public:
  SomeColumns(const Draws& all, std::vector<int> columns)
      : all_(all), columns_(std::move(columns)) {}
  const DrawsInfo& info() const override { return all_.info(); }
  int chains() const override { return all_.chains(); }
  std::size_t draws() const override { return all_.draws(); }
  int dim() const override { return static_cast<int>(columns_.size()); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    const RowBuffer<Symbol> whole(1, all_.dim());
    for (int r = 0; r < x.rows; ++r) {
      all_.read_states(chain, first + static_cast<std::size_t>(r), whole.view());
      for (std::size_t c = 0; c < columns_.size(); ++c) x[r][c] = whole.view()[0][columns_[c]];
    }
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    all_.read_logp(chain, first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    all_.read_acceptance(chain, first, out);
  }

 private:
  const Draws& all_;
  std::vector<int> columns_;
};

DrawsInfo draws_info(const SampleRequest& request, const Target& target, const Sampler& sampler) {
  DrawsInfo info;
  info.model = target.name();
  info.sampler = sampler.name();
  info.shape = target.shape();
  info.levels = target.domain().max_levels();
  info.first_value = target.domain().first_value();
  info.spacing = target.domain().spacing();
  info.exact = sampler.exact();
  info.attributes = {{"version", version()},
                     {"seed", std::to_string(request.plan.seed)},
                     {"command", command_line()},
                     {"model_json", request.model_text}};
  return info;
}

// A run with what is kept of it.
class SampleRun {
 public:
  explicit SampleRun(SampleRequest request)
      : request_(std::move(request)),
        model_(request_.resume.empty() ? load_model(request_.model)
                                       : load_saved_model(request_.model_text, request_.resume,
                                                          request_.model.options())),
        target_(*model_.target) {
    request_.model_text = model_.text;
    check_model_files();
    if (request_.init != "random") {
      start_ = read_start_file(request_.init, request_.plan.chains, target_.domain());
    }
    if (request_.sampler == "auto") choose();
    auto sampler = make_sampler(request_.sampler, target_, request_.settings);
    info_ = draws_info(request_, target_, *sampler);
    run_ = std::make_unique<Run>(target_, std::move(sampler), request_.plan);
    const bool moments_only = request_.record == "moments";
    moments_ = std::make_unique<Moments>(target_.domain(), request_.plan.chains,
                                         request_.plan.draws, moments_only);
    run_->add(*moments_);
  }

  void start() {
    if (request_.resume.empty()) {
      start_.view() ? run_->start(start_.view()) : run_->start();
      make_spool();  // not before the start is known to be possible
      if (!request_.checkpoint.empty()) save();
      return;
    }
    make_spool();
    const Checkpoint checkpoint = read_checkpoint(request_.resume);
    ByteReader in(checkpoint.state);
    try {
      run_->restore(in);
    } catch (const DataError& e) {
      throw DataError(request_.resume + ": the checkpoint does not fit (" + e.what() + ")");
    }
  }

  // True when all draws are made.
  bool go() {
    Progress progress;
    catch_interrupts();
    double saved_at = 0, save_seconds = 0;
    const bool complete = run_->go([&](const RunStatus& status) {
      progress.update(status);
      // A slow disk must not eat the run: at most a tenth of the time goes into saving.
      const double due = std::max(request_.checkpoint_every, 9 * save_seconds);
      if (!request_.checkpoint.empty() && status.seconds - saved_at >= due) {
        save_seconds = save();
        saved_at = status.seconds + save_seconds;
      }
      const bool time_is_up = request_.time_limit > 0 && status.seconds >= request_.time_limit;
      return !time_is_up && !signal_seen();
    });
    progress.clear();
    stop_catching_interrupts();
    if (!complete && request_.checkpoint.empty() && signal_seen()) save_unasked();
    if (!request_.checkpoint.empty()) save();
    return complete;
  }

  void write_out() {
    if (request_.out.empty() || spool_->draws() == 0) return;
    spool_->set_step_size(run_->sampler().step_size().value_or(0));
    write_draws(request_.out, *spool_);
  }

  // After something went wrong: saves what has been made, unless that is saved already, and returns
  // how to continue; or why that is not possible. Lines of their own.
  std::string rescue() {
    if (run_->warming_up() && request_.checkpoint.empty()) return "";
    try {
      if (request_.checkpoint.empty()) {
        name_a_checkpoint();
        save();
      }
    } catch (const std::exception& e) {
      return fmt::format("The run is not saved: {}\n", e.what());
    }
    if (!fs::exists(request_.checkpoint)) return "";
    return fmt::format(
        "The run is saved in {}. To continue, or to write the draws elsewhere:\n"
        "  saltus sample --resume {}{}\n",
        request_.checkpoint, shell_word(request_.checkpoint),
        request_.out.empty() ? "" : " --out FILE");
  }

  SampleReport report(bool complete) {
    SampleReport r{request_,
                   target_,
                   *run_,
                   run_->statistics(),
                   run_->draws_made(),
                   complete,
                   moments_->mean(),
                   {},
                   {},
                   std::nullopt,
                   choice_};
    if (spool_) {
      const int count = watched_count(spool_->dim(), request_.plan);
      const std::vector<int> columns = spread_coordinates(spool_->dim(), count);
      r.summaries = count == spool_->dim()
                        ? summarise(*spool_, false, request_.plan.threads)
                        : summarise(SomeColumns(*spool_, columns), false, request_.plan.threads);
      for (int c : columns) r.watched.push_back(spool_->coordinate(c));
    } else {
      add_moment_summaries(r);
    }
    if (!run_->sampler().random()) {  // particles, not draws
      for (CoordinateSummary& s : r.summaries) s = {s.mean, s.sd, NAN, NAN, NAN, NAN};
    }
    const Domain& domain = target_.domain();
    const auto limit = static_cast<std::uint64_t>(kExactWork / domain.dim());
    if (!request_.json && r.draws > 0 && !target_.stochastic() && !domain.unbounded() &&
        domain.states(limit)) {
      r.exact = exact_answer(target_, request_.plan.threads);
      if (!std::isfinite(r.exact->log_z)) r.exact.reset();  // log p of some state is infinite
    }
    return r;
  }

  const SampleRequest& request() const { return request_; }

 private:
  // From here on the run is one with the winner: the same as if it had been named.
  void choose() {
    if (!request_.settings.empty()) {
      throw UsageError("--set has no place beside --sampler auto: name a sampler");
    }
    RunPlan plan = request_.plan;
    choice_ = choose_sampler(target_, plan);
    request_.sampler = choice_->winner.sampler;
    request_.settings = choice_->winner.settings;
  }

  // Without --out, draws of a part of the coordinates are enough. A continued run goes on with the
  // part that it began with.
  void make_spool() {
    if (request_.record == "moments") return;
    const int dim = target_.domain().dim();
    if (request_.resume.empty()) {
      request_.kept = request_.out.empty() ? watched_count(dim, request_.plan) : dim;
    } else if (!request_.out.empty() && request_.kept != dim) {
      throw UsageError(
          "--out needs the draws of all coordinates, but the run was started without --out and "
          "kept " +
          std::to_string(request_.kept) + " of " + std::to_string(dim));
    }
    std::vector<int> columns;
    if (request_.kept != dim) columns = spread_coordinates(dim, request_.kept);
    fs::path path;
    if (!request_.checkpoint.empty()) path = RunFiles::draws_of(request_.checkpoint);
    const bool elsewhere =
        !request_.resume.empty() && !same_file(request_.checkpoint, request_.resume);
    if (request_.overwrite) fs::remove(path);
    if (elsewhere) copy_draws(RunFiles::draws_of(request_.resume), path);
    spool_ =
        std::make_unique<DrawSpool>(info_, dim, request_.plan.chains, std::move(columns), path);
    run_->add(*spool_);
  }

  // Never onto another file: copy_file follows no link at `to`, and refuses what is there.
  static void copy_draws(const fs::path& from, const fs::path& to) {
    std::error_code error;
    if (!fs::exists(from, error)) return;  // none yet, or restoring says that they are missing
    if (fs::is_symlink(to, error) || !fs::copy_file(from, to, fs::copy_options::none, error)) {
      throw FileError("cannot copy " + from.string() + " to " + to.string() + ": " +
                          (error ? error.message() : "there is a file of this name"),
                      true);
    }
  }

  // Returns how long it took.
  double save() {
    const auto begin = std::chrono::steady_clock::now();
    ByteWriter out;
    run_->save(out);
    write_checkpoint(request_.checkpoint, describe(request_), out.bytes());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // A run without --checkpoint that is interrupted, or cannot write its draws, is saved all the
  // same. Throws FileError.
  void name_a_checkpoint() {
    std::vector<fs::path> folders = {""};
    if (fs::path(request_.out).has_parent_path()) {
      folders.push_back(fs::path(request_.out).parent_path());
    }
    folders.push_back(temporary_folder());
    for (std::size_t k = 0; k < folders.size(); ++k) {
      const std::string name =
          request_.files->new_checkpoint({folders.begin() + static_cast<long>(k), folders.end()});
      try {
        if (spool_) spool_->keep_at(RunFiles::draws_of(name));
        request_.checkpoint = name;
        return;
      } catch (const FileError&) {  // a disk that is full, say
        if (k + 1 == folders.size()) throw;
      }
    }
  }

  void save_unasked() {
    try {
      name_a_checkpoint();
    } catch (const FileError& e) {
      say("saltus: the run is not saved: {}\n", e.what());
    }
  }

  // A file that the model names must be the one that the run began with.
  void check_model_files() {
    if (request_.resume.empty()) {
      request_.model_files = model_.files;
      FileRoles roles;
      roles.reads(model_.files);
      roles.saves(request_.checkpoint);
      roles.writes("--out", request_.out);
      return;
    }
    for (const auto& [path, sum] : model_.files) {
      if (request_.model_files[path] == sum) continue;
      throw DataError(path + " has changed since " + request_.resume + " was saved");
    }
  }

  void add_moment_summaries(SampleReport& r) const {
    if (r.draws == 0) return;
    const auto variance = moments_->variance(), ess = moments_->ess(),
               rhat = moments_->split_rhat();
    for (std::size_t i = 0; i < ess.size(); ++i) {
      const double sd = std::sqrt(variance[i]);
      r.summaries.push_back({r.mean[i], sd, sd / std::sqrt(ess[i]), ess[i], NAN, rhat[i]});
      r.watched.push_back(static_cast<int>(i));
    }
  }

  SampleRequest request_;
  Model model_;
  const Target& target_;
  RowBuffer<Symbol> start_;       // where the chains begin, if given
  std::optional<Choice> choice_;  // with --sampler auto
  DrawsInfo info_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Moments> moments_;
  std::unique_ptr<DrawSpool> spool_;
};

void tell_how_to_continue(const SampleReport& report) {
  if (report.complete) return;
  const SampleRequest& r = report.request;
  say("Stopped after {} of {} draws of each chain.", with_commas(report.draws),
      with_commas(r.plan.draws));
  if (r.checkpoint.empty()) {
    say(" Give --checkpoint FILE to be able to continue.\n");
  } else {
    say(" Saved in {}. To continue:\n  saltus sample --resume {}\n", r.checkpoint,
        shell_word(r.checkpoint));
  }
}

// From the first step to the last draw in its file.
bool make_draws(SampleRun& run) {
  try {
    const bool complete = run.go();
    run.write_out();
    return complete;
  } catch (const FileError& e) {
    throw EndError(e.writing ? cannot_create : no_input, e.what(), run.rescue());
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory", run.rescue());
  }
}

// The draws must not be lost because their summary does not fit into memory.
SampleReport summarise_draws(SampleRun& run, bool complete) {
  try {
    return run.report(complete);
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory for the summary", run.rescue());
  }
}

int sample(SampleRequest request) {
  SampleRun run(std::move(request));
  run.start();
  const bool complete = make_draws(run);
  const SampleReport report = summarise_draws(run, complete);
  if (run.request().json) {
    show_json(report_json(report), {{"mean", report.mean}});
  } else {
    print_report(report);
  }
  tell_how_to_continue(report);
  return complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_sample(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("sample", "Draw from a model");
  auto options = std::make_shared<SampleOptions>(*command);
  command->callback([options, &status] { status = sample(options->request()); });
}

}  // namespace saltus::cli
