// Filling the gaps of sentences by a masked language model (Table 3, and the figure of examples).
#include <fmt/format.h>

#include <cmath>

#include "reproduce/text/cell.hpp"
#include "reproduce/text/measures.hpp"
#include "reproduce/text/page.hpp"

namespace saltus::reproduce {
namespace {

using namespace text;

// The step size is not published. It is the one of these at which DMALA's acceptance is nearest to
// a half.
constexpr double kSweep[] = {0.1, 0.15, 0.175, 0.2, 0.25, 0.3, 0.4};
constexpr double kGoal = 0.5;

// Runs cells, or finds them finished; stops when time is up.
struct Cells {
  Context& context;
  const Model& model;
  Scale scale;
  Shelf shelf = Shelf(context.options().partial);

  std::optional<Filling> get(const Entrant& entrant, const Task& task, std::uint64_t chain_seed,
                             const std::string& doing) {
    const Json key = key_of(model, task, entrant, scale, context.options().device, chain_seed);
    return shelf.get(context, key, [&] {
      context.progress(doing);
      return run_cell(context, model, task, entrant, scale, chain_seed, doing);
    });
  }
};

// The tasks of a run: half of them of each corpus.
std::vector<Task> tasks_of(const Corpora& corpora, const Scale& scale, std::uint64_t seed) {
  std::vector<Task> tasks = draw_tasks("TBC", corpora.tbc, scale.sentences, seed);
  const std::vector<Task> more = draw_tasks("WT103", corpora.wt103, scale.sentences, seed);
  tasks.insert(tasks.end(), more.begin(), more.end());
  return tasks;
}

// DMALA on some tasks of the first run, at each step size; stops where time is up.
Sweep sweep(Context& context, Cells& cells, const std::vector<Task>& tasks, const Scale& scale) {
  Sweep found;
  const auto half = static_cast<std::size_t>(scale.sentences);
  for (const double alpha : kSweep) {
    double sum = 0;
    int count = 0;
    for (const std::size_t first : {std::size_t{0}, half}) {
      for (std::size_t t = first; t < first + static_cast<std::size_t>(scale.swept); ++t) {
        const auto filling =
            cells.get({"DMALA", "dmala", alpha}, tasks[t], seed_of_task(context.seed(0), t),
                      fmt::format("step size {:g}", alpha));
        if (!filling) return found;
        sum += filling->acceptance;
        ++count;
      }
    }
    found.alphas.push_back(alpha);
    found.acceptance.push_back(sum / count);
  }
  std::size_t best = 0;
  for (std::size_t k = 1; k < found.alphas.size(); ++k) {
    if (std::abs(found.acceptance[k] - kGoal) < std::abs(found.acceptance[best] - kGoal)) best = k;
  }
  found.chosen = found.alphas[best];
  return found;
}

std::vector<Standing> field(const std::vector<double>& alphas) {
  std::vector<Standing> list = {{{"Gibbs", "gibbs"}, {}},
                                {{"GWG", "gwg", NAN, {{"flips", "1"}}}, {}}};
  for (const double alpha : alphas) {
    const std::string size = alphas.size() == 1 ? "" : fmt::format(" {:g}", alpha);
    list.push_back({{"DULA" + size, "dula", alpha}, {}});
    list.push_back({{"DMALA" + size, "dmala", alpha}, {}});
  }
  return list;
}

// All sentences of one sampler with one seed.
std::optional<Outcome> outcome_of(Cells& cells, const Corpora& corpora,
                                  const std::vector<Task>& tasks, const Entrant& entrant,
                                  const Scale& scale, std::uint64_t seed) {
  Outcome outcome;
  std::vector<Words> generated;
  double top_energy = 0;
  bool complete = true;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::string doing =
        fmt::format("{}, seed {}: sentence {} of {}", entrant.label, seed, t + 1, tasks.size());
    const auto filling = cells.get(entrant, tasks[t], seed_of_task(seed, t), doing);
    complete = complete && filling;
    if (!complete) continue;  // the others of this sampler still count as missing
    std::vector<Completion> best;
    for (const std::size_t c : filling->best(scale.top)) {
      generated.push_back(tasks[t].filled(filling->words[c]));
      top_energy += filling->energy[c];
      best.push_back({filling->words[c], filling->energy[c]});
    }
    outcome.best.push_back(std::move(best));
    const auto n = static_cast<double>(tasks.size());
    outcome.acceptance += filling->acceptance / n;
    outcome.changed += filling->changed / (n * static_cast<double>(tasks[t].gaps.size()));
    outcome.seconds += filling->seconds;
    outcome.energy += measured(filling->energy).mean / n;
  }
  if (!complete) return std::nullopt;
  outcome.top_energy = top_energy / static_cast<double>(generated.size());
  outcome.measures = measure(corpora, tasks, generated);
  return outcome;
}

}  // namespace

Results run_text(Context& context) {
  const Options& options = context.options();
  Scale scale = scale_of(context.quick());
  scale.starts_alike = options.starts_alike;
  context.progress("reading the sentences");
  const Corpora corpora = load_corpora(options.data);
  context.progress("reading the model");
  const Model model = load_model(options.model, options.device);
  Cells cells{context, model, scale};
  TextResults all{model.bert.name, model.bert.config, scale, {}, {}, {}, 0};
  std::vector<double> alphas = options.alphas;
  if (alphas.empty()) {
    all.sweep = sweep(context, cells, tasks_of(corpora, scale, context.seed(0)), scale);
    if (all.sweep.chosen) alphas = {*all.sweep.chosen};
  }
  all.standings = field(alphas);
  for (std::size_t run = 0; run < context.seeds(); ++run) {
    const std::vector<Task> tasks = tasks_of(corpora, scale, context.seed(run));
    for (Standing& standing : all.standings) {
      standing.runs.push_back(
          outcome_of(cells, corpora, tasks, standing.entrant, scale, context.seed(run)));
    }
    if (run == 0) all.tasks = tasks;
  }
  all.missing = cells.shelf.missing();
  if (alphas.empty()) {  // DULA and DMALA wait for their step size
    all.missing += 2 * options.seeds * static_cast<int>(all.tasks.size());
  }
  return text_results(all, context.quick());
}

}  // namespace saltus::reproduce
