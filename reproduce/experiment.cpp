#include "reproduce/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "saltus/core/error.hpp"
#include "saltus/io/data_folder.hpp"

namespace saltus::reproduce {

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

void Context::parallel(const std::string& doing, int tasks,
                       const std::function<void(int task)>& work) {
  std::atomic<int> done = 0;
  progress(doing);
  pool_.for_each(tasks, [&](int task, int) {
    work(task);
    progress(fmt::format("{}, {} of {}", doing, ++done, tasks));
  });
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> list = {
      {"theory",
       "the bias of DULA against the step size, and the bounds of Theorems 1 to 3",
       "5 s",
       "1 s",
       5,
       3,
       {},
       run_theory},
      {"preconditioner",
       "two coordinates of very different scale, with and without a preconditioner",
       "2 s",
       "1 s",
       20,
       20,
       {},
       run_preconditioner},
      {"categorical",
       "two sites of three classes: frequencies against the exact law",
       "15 s",
       "2 s",
       5,
       3,
       {},
       run_categorical},
      {"ising",
       "the 5 x 5 Ising model: nine samplers by error, effective sample size and time",
       "30 s",
       "10 s",
       5,
       3,
       {},
       run_ising},
      {"rbm",
       "a restricted Boltzmann machine of MNIST digits: six samplers by MMD, and acceptance",
       "5 min",
       "45 s",
       8,
       2,
       {"mnist"},
       run_rbm},
      {"ising-learning",
       "learning the couplings of a 25 x 25 Ising lattice from samples of it",
       "30 min",
       "15 s",
       1,
       1,
       {},
       run_ising_learning},
  };
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

void check_data(const Experiment& experiment, const std::filesystem::path& folder) {
  for (const std::string& wanted : experiment.data) need_data(wanted, folder);
}

}  // namespace saltus::reproduce
