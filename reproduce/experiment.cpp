#include "reproduce/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "core/number_text.hpp"
#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus::reproduce {

Row& Results::add(std::string quantity, Json setting, const Measured& ours, std::string note,
                  Verdict verdict, std::optional<double> paper) {
  return rows.emplace_back(Row{std::move(quantity), std::move(setting), paper, ours.mean,
                               ours.error, verdict, std::move(note)});
}

void Statement::add(std::string quantity, Json setting, const Measured& value, std::string note) {
  if (value.runs == 0) return;
  rows.push_back({std::move(quantity),
                  std::move(setting),
                  {},
                  value.mean,
                  value.error,
                  Verdict::undecided,
                  std::move(note)});
  values.push_back(value);
  values.back().mean -= than;
}

void Statement::judge(Results& results) {
  const std::vector<Verdict> verdicts = judge_signs(values, claimed);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].verdict = verdicts[k];
    results.rows.push_back(std::move(rows[k]));
  }
}

void add_cost_claims(
    const std::function<Measured(const std::string& of, const std::string& to)>& ratio,
    const Json& setting, Results& results) {
  struct Claim {
    const char *of, *to;
    double paper;
    const char* note;
  };
  for (const Claim& c :
       {Claim{"DMALA", "GWG-1", 1, "The paper: a similar cost per step."},
        Claim{"DMALA", "Gibbs-1", 2.5,
              "The paper: roughly 2.5 times, in PyTorch. It counts evaluations of the target; here "
              "a step of Gibbs-1 computes the change of one site alone."},
        Claim{"DULA", "Gibbs-1", 1,
              "The paper: a similar cost per step, in PyTorch. Here a step of Gibbs-1 computes the "
              "change of one site alone, DULA a gradient."}}) {
    const Measured m = ratio(c.of, c.to);
    results.add("cost_ratio", with(with(setting, "sampler", c.of), "to", c.to), m, c.note,
                judge_similar(m, c.paper / kSimilarFactor, c.paper * kSimilarFactor), c.paper);
  }
}

Context::Context(Options options, Watch watch)
    : options_(std::move(options)), watch_(std::move(watch)), pool_(options_.threads) {}

std::vector<double> Context::alphas(std::vector<double> usual) const {
  return options_.alphas.empty() ? usual : options_.alphas;
}

void Context::progress(const std::string& doing) {
  const std::lock_guard lock(mutex_);
  if (!stopped_ && watch_) stopped_ = !watch_(doing);
  if (stopped_) throw Interrupted();
}

void Context::parallel(const std::string& doing, std::size_t tasks,
                       const std::function<void(std::size_t task)>& work) {
  std::atomic<int> done = 0;
  progress(doing);
  pool_.for_each(static_cast<int>(tasks), [&](int task, int) {
    work(static_cast<std::size_t>(task));
    progress(fmt::format("{}, {} of {}", doing, ++done, tasks));
  });
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = {
      {"theory", "the bias of DULA against the step size, and the bounds of Theorems 1 to 3", "5 s",
       "1 s", 5, 3, run_theory},
      {"preconditioner",
       "two coordinates of very different scale, with and without a preconditioner", "2 s", "1 s",
       20, 20, run_preconditioner},
      {"categorical", "two sites of three classes: frequencies against the exact law", "15 s",
       "2 s", 5, 3, run_categorical},
      {"ising", "the 5 x 5 Ising model: nine samplers by error, effective sample size and time",
       "30 s", "10 s", 5, 3, run_ising},
      {"rbm", "restricted Boltzmann machines of MNIST digits: six samplers by MMD, and acceptance",
       "20 min", "1 min", 8, 2, run_rbm, split_words("mnist")},
      {"ising-learning",
       "learning the couplings of a 25 x 25 Ising lattice from samples of it",
       "3 h",
       "15 s",
       3,
       1,
       run_ising_learning,
       {},
       {},
       false,
       false,
       true},
      {"bnn",
       "neural networks with weights -1 and +1 on four data sets: samplers by fit and by test "
       "error",
       "18 h; 6 min with --device cuda", "20 s", 5, 2, run_bnn,
       split_words("compas news adult blog"), split_words("compas")},
      {"ebm", "deep energies of binary images, learned with four samplers: test log-likelihood",
       "10 min for each of 16 cells with --device cuda, weeks without", "1 min", 1, 1, run_ebm,
       split_words("static_mnist mnist omniglot caltech"), split_words("static_mnist"), true},
      {"text", "filling the gaps of sentences by a masked language model: samplers by diversity",
       "90 min", "30 s", 5, 1, run_text, split_words("text"), split_words("text"), false, true}};
  return list;
}

const Experiment& find_experiment(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& e : experiments()) {
    if (e.name == name) return e;
    names.push_back(e.name);
  }
  throw UsageError(
      fmt::format("there is no experiment '{}'; known are {}", name, fmt::join(names, ", ")));
}

std::vector<std::string> parts_of(const Experiment& experiment, const std::string& list,
                                  bool quick) {
  if (list.empty() && experiment.own_parts) return {};
  if (list.empty()) return quick ? experiment.quick_parts : experiment.data;
  if (!experiment.in_parts()) {
    throw UsageError(
        fmt::format("the experiment {} has no parts: leave out --only", experiment.name));
  }
  std::vector<std::string> parts = split_list(list);
  for (const std::string& part : parts) {
    if (!experiment.own_parts && std::ranges::count(experiment.data, part) == 0) {
      throw UsageError(fmt::format("--only {}: the experiment {} has the parts {}", list,
                                   experiment.name, fmt::join(experiment.data, ", ")));
    }
  }
  return parts;
}

void check_data(const Experiment& experiment, const std::filesystem::path& folder,
                const std::vector<std::string>& only) {
  for (const std::string& wanted : experiment.data) {
    if (only.empty() || std::ranges::count(only, wanted) > 0) need_data(wanted, folder);
  }
}

std::string Entrant::name() const {
  if (std::isnan(alpha) || sampler == "rmala") return label;
  return std::isinf(alpha) ? label + " without the term" : fmt::format("{} {:g}", label, alpha);
}

Json Entrant::setting(Json others) const {
  others["sampler"] = label;
  if (std::isnan(alpha)) return others;
  return with(others, sampler == "rmala" ? "epsilon" : "alpha",
              std::isinf(alpha) ? Json("infinite") : Json(alpha));
}

std::unique_ptr<Sampler> Entrant::make(const Target& target) const {
  Settings all = settings;
  if (!std::isnan(alpha)) all["step_size"] = fmt::format("{:g}", alpha);
  return make_sampler(sampler, target, all);
}

}  // namespace saltus::reproduce
