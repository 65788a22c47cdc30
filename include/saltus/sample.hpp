// Drawing from a model, from the request to diagnosed draws: what the program's `sample` does, as
// a library.
//
//   SampleRequest request(load_model("model.json"));
//   request.plan.draws = 5000;
//   const SampleResult result = sample(request);
//   ... result.summaries, result.warnings, result.draws->read_states(...)
//
// A target of your own is drawn from the same way: SampleRequest(std::make_shared<MyTarget>()).
#pragma once

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/compare/choice.hpp"
#include "saltus/core/warning.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/diagnose/observables.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/draw_arrays.hpp"
#include "saltus/run/pacer.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/temper/parallel_tempering.hpp"

namespace saltus {

class DrawSpool;
class BestSoFar;
class Moments;

// Where the draws are kept.
enum class Keep {
  memory,   // in memory that the result owns
  arrays,   // in the caller's arrays
  disk,     // in a file beside the checkpoint, or in a temporary one: memory holds one round
  moments,  // nowhere: running moments alone
};

// Parallel tempering in place of plain chains, for targets with many modes: the request's chains
// are ensembles then, and its warm-up, draws and thinning count scans.
struct TemperingRequest : TemperingPlan {
  // Where the ladder begins: uniform, or model, the model's own base; empty: that where there is
  // one. Or the probability of the upper level of each two-level coordinate, otherwise of all
  // levels, coordinate after coordinate.
  std::string base;
  std::vector<double> probabilities;
};

struct SampleRequest : Saving {
  SampleRequest() {
    checkpoint_every = 1;
    plan.start = Start::dispersed;
  }
  explicit SampleRequest(std::shared_ptr<const Target> drawn_from);
  explicit SampleRequest(Model model);

  std::shared_ptr<const Target> target;
  // What describes the target in a checkpoint (Model::text, Model::files). Empty for a target of
  // the caller's own.
  std::string model_text;
  std::map<std::string, std::string> model_files;

  // A name (sampler_entries), or auto: the best in a short race, tempered where plain chains seem
  // to miss modes. The settings are then for those that have these parameters.
  std::string sampler = "dmala";
  Settings settings;
  // With auto: a folder that keeps the outcomes of races, so that a run that is made again on this
  // machine has the same sampler without another race. Empty: none.
  std::string cache;
  std::optional<Choice> choice;                // once the race has been run; a checkpoint keeps it
  std::shared_ptr<const Sampler> own_sampler;  // in place of a name
  RunPlan plan;
  // The processes that share the run, whose chains `plan` counts; all make the same request. Draws,
  // files and the result are the leader's, and the same as in one process.
  Team* team = nullptr;
  bool keep_apart = false;  // in a team: each process keeps the draws of its own chains
  int chains_of_run = 0;    // where the plan is a part (plan.first_chain) of a run: its chains
  std::optional<TemperingRequest> tempering;
  std::optional<Independent> model_base;  // of SampleRequest(Model), where the model has one
  std::optional<Objective> objective;     // of the model, where it is that of a problem file
  Labels labels;                          // of the model's coordinates, where it has some
  // Where values are given: `target` has the free coordinates alone, and so have `start`, `arrays`
  // and `coordinates`; the result, files and expressions have all coordinates of the model.
  std::shared_ptr<const WholeModel> whole;
  Rows<const Symbol> start;  // a row for each chain; null: plan.start. Not needed after the start

  Keep keep = Keep::memory;
  CallerArrays arrays;       // with Keep::arrays
  int coordinates = 0;       // evenly spread ones whose draws are kept; 0: all
  std::vector<int> columns;  // these instead, in increasing order
  // Quantities to be diagnosed beside the usual ones (diagnose/expression.hpp); they need the draws
  // of all coordinates.
  std::vector<std::string> observe;
  bool exact = true;  // where the model is small, compute the exact answer too
  bool probe = true;  // look for modes that the chains have missed, for a tenth of the run's steps

  // The caller's: receives the draws of this process as well, while the run lasts. Must outlive it.
  Recorder* listener = nullptr;

  std::map<std::string, std::string> attributes;  // copied into files of draws
  std::map<std::string, std::string> notes;       // the caller's own; a checkpoint keeps them
};

// What annealed searches that begin elsewhere say of the draws. R-hat compares chains with one
// another, and cannot see a mode that none of them has visited.
struct ModeProbe {
  int searches = 0;
  int elsewhere = 0;  // ended far from all draws, in states that are no less probable
  int higher = 0;     // ended in states that are much more probable than any draw
  bool missed() const { return elsewhere > 1 || higher > 1; }
};

// What the draws say in the terms of a problem file.
struct ObjectiveSummary {
  Objective objective;
  double best = NAN;  // of SampleResult::best, in double precision
  double mean = NAN;
};

struct SampleResult {
  std::shared_ptr<const Target> target;     // the whole model, where values are given
  std::shared_ptr<const WholeModel> whole;  // SampleRequest::whole
  std::string sampler;
  std::vector<Parameter> parameters;  // as tuned
  bool exact_sampler = true;          // it leaves the model invariant
  bool random_sampler = true;         // false: particles that move by a deterministic rule
  std::string tunes;  // "step_size", "dmala.step_size, gwg.flips": what warm-up tunes
  RunPlan plan;
  int tile = 0;                  // chains advanced together
  bool complete = false;         // all draws are made
  std::uint64_t draws_made = 0;  // of each chain
  RunStatistics statistics;
  std::vector<double> mean;                  // of every coordinate
  std::vector<int> kept;                     // coordinates that the draws hold; empty: all
  std::vector<int> watched;                  // the coordinates that the summaries belong to:
  std::vector<CoordinateSummary> summaries;  // all, or evenly spread ones of a long run
  std::optional<ExactAnswer> exact;
  std::vector<ObservableSummary> observables;  // empty with Keep::moments
  std::optional<BestDraw> best;                // of all draws, with all coordinates
  std::optional<ObjectiveSummary> objective;
  Labels labels;  // of the coordinates; empty: 0, 1, ...
  std::optional<ModeProbe> probe;
  std::optional<TemperingReport> tempering;
  std::optional<Choice> choice;        // of the sampler, where that was asked for
  Warnings warnings;                   // what speaks against the draws
  std::shared_ptr<const Draws> draws;  // null with Keep::moments
};

// Told between rounds; false stops the run, which can be continued where there is a checkpoint.
using SampleProgress = std::function<bool(const RunStatus&)>;

// Throws UsageError, DataError and FileError.
SampleResult sample(SampleRequest request, const SampleProgress& progress = {});

// The request that a checkpoint holds, with `resume` set. The model is read again, and refused with
// a DataError when a file of it has changed. What does not determine the draws may then be changed,
// and plan.draws where draws are kept; Keep::arrays needs the arrays again.
SampleRequest resumed_sample(const std::string& checkpoint, const ModelOptions& options = {});
// The same for a target of the caller's own.
SampleRequest resumed_sample(const std::string& checkpoint, std::shared_ptr<const Target> target);
// The same in two steps: without the target, and the target from what the request says of it.
SampleRequest read_sample_checkpoint(const std::string& checkpoint);
void attach_saved_model(SampleRequest& request, const ModelOptions& options);

// Where a run with Keep::disk and this checkpoint has its draws.
std::filesystem::path draws_beside(const std::filesystem::path& checkpoint);
// How many coordinates of a run are diagnosed: all, unless that would take too long.
int watched_count(int dim, const RunPlan& plan);

// sample() in steps, for callers that look after files between them. In a team, only the leader may
// ask for more than start() and go().
class SampleRun {
 public:
  // Chooses the sampler, where it is to be chosen: from here on the run is one with the winner.
  explicit SampleRun(SampleRequest request);
  ~SampleRun();

  // Starts the chains, or restores them, and saves a first time.
  void start();
  // True when all draws are made. Saves now and then, and at the end.
  bool go(const SampleProgress& progress = {});
  // All that continues a run with Keep::arrays, but for the draws, which these arrays hold. Not in
  // a team.
  std::vector<std::byte> state() const;
  // In place of start(): continues from there, with as many draws in the arrays as were made.
  // plan.draws may be larger.
  void start_from(std::span<const std::byte> state);
  // Gives a run without a checkpoint one, whose file does not exist yet. Throws FileError when its
  // draws cannot be moved there; the run is then as before.
  void save_to(const std::string& checkpoint);
  void save();
  SampleResult result();

  const SampleRequest& request() const { return request_; }
  const DrawingRun& run() const { return *run_; }
  // Of all chains; of this process's, where draws are kept apart.
  std::shared_ptr<const Draws> draws();
  // Of the draws, for files that can hold it.
  void set_attribute(const std::string& name, const std::string& text);
  // In a team: the part that this process has, from 1 on, of how many; 0: none.
  int part() const { return idle_ ? 0 : part_; }
  int parts() const { return parts_; }

 private:
  void choose();
  void join_team();
  void make_run();
  void gather();
  void keep_draws();
  void keep_here(int chains);
  void restore();
  DrawsInfo draws_info() const;
  void add_moment_summaries(SampleResult& r) const;
  const Target& whole_target() const;
  std::shared_ptr<const Draws> free_draws();
  void add_exact_answer(SampleResult& r) const;

  SampleRequest request_;
  std::shared_ptr<const Sampler> sampler_;
  // While the run is shared: those that have chains, and which this process has.
  std::unique_ptr<Team> team_;
  ChainRange range_ = {0, 0};
  int part_ = 1, parts_ = 1;
  bool idle_ = false;  // there are more processes than chains to deal out
  std::unique_ptr<Recorder> transport_;
  std::unique_ptr<DrawingRun> run_;
  std::unique_ptr<Moments> moments_;
  std::unique_ptr<BestSoFar> best_;
  std::vector<Expression> own_;  // of request_.observe
  std::vector<int> kept_;        // coordinates whose draws are kept; empty: all
  std::shared_ptr<DrawSpool> spool_;
  std::shared_ptr<DrawArrays> in_memory_;
};

}  // namespace saltus
