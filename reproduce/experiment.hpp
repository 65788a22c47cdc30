// An experiment of the paper "A Langevin-like sampler for discrete distributions" (Zhang, Liu &
// Liu, ICML 2022), run anew: what it is given, what it hands back, and the list of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page.hpp"
#include "reproduce/verdict.hpp"
#include "saltus/core/device.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::reproduce {

using Json = nlohmann::ordered_json;
using report::Cell;
using report::Phrase;
using report::Plot;
using report::Series;

inline Plot labelled(std::string title, std::string x_label, std::string y_label,
                     std::string summary = "") {
  return {.title = std::move(title),
          .x_label = std::move(x_label),
          .y_label = std::move(y_label),
          .summary = std::move(summary)};
}

// The mean of of(run) over the runs; `of` may be a member of Run.
template <class Runs, class Of>
Measured over_runs(const Runs& runs, Of of) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(std::invoke(of, run));
  return measured(values);
}

// The mean of of(ours, theirs) over runs with the same seeds.
template <class Runs, class Of>
Measured over_pairs(const Runs& ours, const Runs& theirs, Of of) {
  std::vector<double> values;
  for (std::size_t r = 0; r < std::min(ours.size(), theirs.size()); ++r) {
    values.push_back(of(ours[r], theirs[r]));
  }
  return measured(values);
}

// A band of one standard deviation of a run around the next value of a series.
inline void add_band(const Measured& m, Series& series) {
  series.low.push_back(m.mean - m.sd);
  series.high.push_back(m.mean + m.sd);
}
inline void add_banded(double x, const Measured& m, Series& series) {
  series.add(x, m.mean);
  add_band(m, series);
}

// One number of ours beside the paper's.
struct Row {
  std::string quantity;           // "log_rmse"
  Json setting = Json::object();  // {"sampler": "dmala", "alpha": 0.4}
  std::optional<double> paper;
  double ours = 0;
  std::optional<double> spread;  // standard error over seeds; none: exact, or one seed only
  Verdict verdict = Verdict::not_published;
  std::string note;
};

struct Picture {
  std::string file;  // its name in the folder of results
  report::Image image;
};

// A part of the page, in this order.
struct Section {
  std::string heading = {};
  std::vector<std::string> text = {};  // paragraphs
  std::vector<report::Plot> plots = {};
  std::vector<report::Table> tables = {};
  std::vector<Picture> pictures = {};
  std::string pictures_caption = {};
};

struct Results {
  std::vector<std::string> findings;  // sentences at the top of the page
  std::vector<Row> rows;
  std::vector<Section> sections;

  // The new row, to be completed.
  Row& add(std::string quantity, Json setting, const Measured& ours, std::string note = "",
           Verdict verdict = Verdict::not_published, std::optional<double> paper = {});
};

// A statement of the paper that several comparisons test. They are judged together.
struct Statement {
  Sign claimed;  // of each value less `than`
  double than = 0;
  std::vector<Row> rows = {};
  std::vector<Measured> values = {};

  // Nothing is added where nothing was measured.
  void add(std::string quantity, Json setting, const Measured& value, std::string note);
  // Adds the rows with their verdicts.
  void judge(Results& results);
};

// "Similar" and "about": within this factor, either way.
inline constexpr double kSimilarFactor = 1.25;

// "DMALA has a similar cost per step with GWG-1, which is roughly 2.5x of Gibbs-1. DULA has a
// similar cost per step with Gibbs-1." `ratio` gives the cost of a step of one to that of another,
// by their labels.
void add_cost_claims(
    const std::function<Measured(const std::string& of, const std::string& to)>& ratio,
    const Json& setting, Results& results);

// The setting with one more entry.
template <class T>
Json with(Json setting, const char* key, const T& value) {
  setting[key] = value;
  return setting;
}

struct Options {
  bool quick = false;
  int seeds = 1;               // runs, with seed, seed + 1, ...
  std::uint64_t seed = 1;      // of the first run
  int threads = 0;             // 0: all cores
  std::filesystem::path data;  // folder of data sets; empty: none was named
  std::vector<double> alphas;  // step sizes asked for; empty: the experiment's own

  // Of experiments that have parts.
  std::vector<std::string> only = {};  // the parts asked for
  double time = 0;                     // seconds after which none is begun; 0: no limit
  std::filesystem::path partial = {};  // folder of those that are finished; empty: none are kept
  Device device = Device::cpu;
  std::uint64_t iterations = 0;      // of learning; 0: the experiment's own
  bool reduced = false;              // a cheaper evaluation
  std::filesystem::path model = {};  // folder of a model; empty: the experiment's own
  bool starts_alike = false;         // all chains on one sentence: of text
};

// Thrown where an experiment was asked to stop.
struct Interrupted {};

// What a running experiment may ask for.
class Context {
 public:
  // `watch` is told what is being done, from any thread but one at a time; false stops the
  // experiment.
  using Watch = std::function<bool(const std::string& doing)>;
  Context(Options options, Watch watch);

  const Options& options() const { return options_; }
  bool quick() const { return options_.quick; }
  std::size_t seeds() const { return static_cast<std::size_t>(options_.seeds); }
  std::uint64_t seed(std::size_t run) const { return options_.seed + run; }
  // The step sizes asked for, or these.
  std::vector<double> alphas(std::vector<double> usual) const;

  // Seconds since the experiment began.
  double seconds() const { return clock_.seconds(); }

  // Throws Interrupted once the experiment was asked to stop.
  void progress(const std::string& doing);
  // work(task) for every task on the threads; progress counts the tasks.
  void parallel(const std::string& doing, std::size_t tasks,
                const std::function<void(std::size_t task)>& work);
  // run(item, seed) for all items, 0 and up, with all seeds: by item and seed.
  template <class Run>
  auto each_run(const std::string& doing, std::size_t items, Run run) {
    using Outcome = std::invoke_result_t<Run, std::size_t, std::uint64_t>;
    std::vector all(items, std::vector<Outcome>(seeds()));
    parallel(doing, items * seeds(), [&](std::size_t task) {
      const std::size_t item = task / seeds(), k = task % seeds();
      all[item][k] = run(item, seed(k));
    });
    return all;
  }

 private:
  Options options_;
  Watch watch_;
  Stopwatch clock_;
  ThreadPool pool_;
  std::mutex mutex_;
  bool stopped_ = false;
};

struct Experiment {
  std::string name, summary;
  std::string full_time, quick_time;  // on two cores
  int seeds, quick_seeds;             // when none are asked for
  Results (*run)(Context& context);
  std::vector<std::string> data = {};  // sets of published_data() that it reads
  // Parts that can be asked for alone (--only): sets of `data`, or what the experiment makes of
  // the list itself. What is finished of them is kept, so that a run can be made in several calls
  // (--time), and on a GPU (--device).
  std::vector<std::string> quick_parts = {};  // with --quick, when none are asked for
  bool own_parts = false;                     // it reads the list itself
  bool any_model = false;                     // it can be run on another model (--model)
  bool keeps_runs = false;                    // it has no such parts, but keeps finished runs
  bool in_parts() const { return !quick_parts.empty(); }
  bool resumes() const { return in_parts() || keeps_runs; }
};

const std::vector<Experiment>& experiments();
// Throws UsageError, naming what is known.
const Experiment& find_experiment(const std::string& name);
// The parts of `list`, "compas,adult" say, or, when it is empty, all that belong to the run. Throws
// UsageError for what is none.
std::vector<std::string> parts_of(const Experiment& experiment, const std::string& list,
                                  bool quick);
// Throws FileError when a file of one of its data sets is missing; of those of `only`, when this is
// not empty.
void check_data(const Experiment& experiment, const std::filesystem::path& folder,
                const std::vector<std::string>& only = {});

Results run_theory(Context& context);
Results run_preconditioner(Context& context);
Results run_categorical(Context& context);
Results run_ising(Context& context);
Results run_rbm(Context& context);
Results run_ising_learning(Context& context);
Results run_bnn(Context& context);
Results run_ebm(Context& context);
Results run_text(Context& context);

// A sampler that takes part in an experiment.
struct Entrant {
  std::string label, sampler;  // as the paper names it, as the registry does
  double alpha = NAN;          // where it has a step size; infinite: no step-size term
  Settings settings = {};      // beside the step size
  int batch = 0;               // of the target's data; 0: all of it

  std::string name() const;  // the label, with the step size of DULA and DMALA
  // `others` with the sampler and its step size.
  Json setting(Json others = Json::object()) const;
  std::unique_ptr<Sampler> make(const Target& target) const;
};

// The one of some standings whose entrant has that name.
template <class Standing>
const Standing& named(const std::vector<Standing>& all, const std::string& name) {
  return *std::ranges::find(all, name, [](const Standing& s) { return s.entrant.name(); });
}

}  // namespace saltus::reproduce
