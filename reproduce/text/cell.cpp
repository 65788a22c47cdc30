#include "reproduce/text/cell.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/checksum.hpp"
#include "reproduce/chains.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/torch/module.hpp"
#include "saltus/version.hpp"

namespace saltus::reproduce::text {
namespace {

constexpr const char* kWanted = "the experiment text";
constexpr std::uint64_t kStepsAtOnce = 5;  // between looks at the clock and at the keyboard

// `count` of 0, 1, ..., n - 1 in random order: the beginning of a shuffle (Fisher & Yates).
std::vector<std::size_t> some_of(std::size_t n, std::size_t count, const Stream& stream) {
  std::vector<std::size_t> list(n);
  std::iota(list.begin(), list.end(), std::size_t{0});
  for (std::size_t k = 0; k < count; ++k) {
    const double u = stream.uniform(static_cast<std::uint32_t>(k));
    std::swap(list[k], list[k + static_cast<std::size_t>(u * static_cast<double>(n - k))]);
  }
  list.resize(count);
  return list;
}

std::uint32_t number_of(const std::string& corpus) {
  std::uint32_t sum = 2166136261u;  // FNV-1a
  for (const char c : corpus) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619u;
  return sum;
}

std::string sum_of(const BertFiles& bert) {
  Checksum sum;
  for (const auto& [name, array] : bert.arrays) {
    sum.add_bytes(name.data(), name.size());
    sum.add_bytes(array.values.data(), array.values.size() * sizeof(float));
  }
  for (std::int32_t id = 0; id < bert.pieces->size(); ++id) {
    const std::string& piece = bert.pieces->piece(id);
    sum.add_bytes(piece.c_str(), piece.size() + 1);
  }
  return sum.text();
}

}  // namespace

std::string Task::masked() const {
  return fmt::format("{}", fmt::join(filled(Words(gaps.size(), "[MASK]")), " "));
}

Words Task::filled(const Words& words_in_gaps) const {
  Words result = words;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    result[static_cast<std::size_t>(gaps[i])] = words_in_gaps[i];
  }
  return result;
}

std::vector<Task> draw_tasks(const std::string& corpus, std::span<const Words> sentences, int count,
                             std::uint64_t seed) {
  std::vector<std::size_t> fitting;
  for (std::size_t line = 0; line < sentences.size(); ++line) {
    const std::size_t n = sentences[line].size();
    if (n >= kFewestWords && n <= kMostWords) fitting.push_back(line);
  }
  if (fitting.size() < static_cast<std::size_t>(count)) {
    throw DataError(fmt::format("{} has {} sentences of {} to {} words, but {} are needed", corpus,
                                fitting.size(), kFewestWords, kMostWords, count));
  }
  const std::uint32_t of_corpus = number_of(corpus);
  std::vector<Task> tasks;
  for (const std::size_t k : some_of(fitting.size(), static_cast<std::size_t>(count),
                                     Stream(seed, of_corpus, 0, Purpose::batch))) {
    Task task{corpus, fitting[k], sentences[fitting[k]], {}};
    const std::size_t n = task.words.size();
    const auto gaps = static_cast<std::size_t>(std::lround(kMasked * static_cast<double>(n)));
    const Stream places(seed, of_corpus, 1 + tasks.size(), Purpose::batch);
    for (const std::size_t at : some_of(n - 2, gaps, places)) {
      task.gaps.push_back(static_cast<int>(at) + 1);
    }
    std::sort(task.gaps.begin(), task.gaps.end());
    tasks.push_back(std::move(task));
  }
  return tasks;
}

std::uint64_t seed_of_task(std::uint64_t seed, std::size_t task) {
  const PhiloxBlock block = Stream(seed, kAllChains, task, Purpose::batch).block(0);
  return std::uint64_t{block[0]} << 32 | block[1];
}

std::vector<std::vector<bool>> repeated(const std::vector<Words>& completions) {
  std::vector<std::vector<bool>> marks;
  for (const Words& mine : completions) {
    std::vector<bool> of_mine;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto same = std::count_if(completions.begin(), completions.end(),
                                      [&](const Words& other) { return other[i] == mine[i]; });
      of_mine.push_back(same > 1);
    }
    marks.push_back(std::move(of_mine));
  }
  return marks;
}

Scale scale_of(bool quick) {
  return quick ? Scale{2, 10, 10, 5, 1} : Scale{10, 25, 50, 5, 2};
}

std::vector<std::size_t> Filling::best(int count) const {
  std::vector<std::size_t> order(energy.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return energy[a] > energy[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
  return order;
}

Model load_model(const std::filesystem::path& folder, Device device) {
  torch_module(kWanted);
  Model model{folder.empty() ? default_bert() : load_bert(folder), "", device};
  model.sum = sum_of(model.bert);
  return model;
}

std::unique_ptr<InfillTarget> Model::fill(const InfillProblem& problem) const {
  const TorchModule& module = torch_module(kWanted);
  if (!masked) masked = module.load_masked_model(bert, {device, {}});
  return module.infill(masked, problem, AllowedPieces{});
}

RowBuffer<Symbol> start_states(const InfillTarget& target, const Scale& scale, std::uint64_t seed) {
  RowBuffer<Symbol> states = draw_from_marginals(target, scale.chains, seed);
  if (!scale.starts_alike) return states;
  const Rows<Symbol> own = states.view();
  return gathered(own.rows, own.cols, [&](int) { return own[0]; });
}

Filling run_cell(Context& context, const Model& model, const Task& task, const Entrant& entrant,
                 const Scale& scale, std::uint64_t seed_of_chains, const std::string& doing) {
  const auto target = model.fill(make_infill_problem(model.bert, task.masked()));
  const auto sampler =
      entrant.sampler == "gibbs" ? make_conditional_gibbs(*target) : entrant.make(*target);
  const Stopwatch clock;
  const RowBuffer<Symbol> states = start_states(*target, scale, seed_of_chains);
  Ensemble ensemble(*target, scale.chains, 0, context.options().threads, seed_of_chains);
  ensemble.start_from(states.view());
  ensemble.evaluate();
  std::vector<double> acceptance(static_cast<std::size_t>(scale.chains)), changed(acceptance);
  Visitor watch([&](int chain, std::uint64_t, const Symbol*, const StepInfo& info) {
    acceptance[static_cast<std::size_t>(chain)] += info.acceptance;
    changed[static_cast<std::size_t>(chain)] += info.changed;
  });
  while (ensemble.step() < scale.steps) {
    context.progress(fmt::format("{}, step {} of {}", doing, ensemble.step(), scale.steps));
    ensemble.advance(*sampler, std::min(kStepsAtOnce, scale.steps - ensemble.step()), watch);
  }
  Filling filling;
  filling.seconds = clock.seconds();
  const auto mean = [&](const std::vector<double>& sums) {
    return std::accumulate(sums.begin(), sums.end(), 0.0) /
           (static_cast<double>(scale.steps) * scale.chains);
  };
  filling.acceptance = mean(acceptance), filling.changed = mean(changed);
  const RowBuffer<Symbol> x = states_of(ensemble, target->domain().dim());
  const RowBuffer<double> terms(scale.chains, x.view().cols);
  Scratch scratch;
  target->terms({0, 0, scratch}, x.view(), terms.view());
  for (int c = 0; c < scale.chains; ++c) {
    const auto log_f = terms.view().row(c);
    filling.energy.push_back(std::accumulate(log_f.begin(), log_f.end(), 0.0));
    Words words;
    for (const Symbol level : x.view().row(c)) {
      words.push_back(model.bert.pieces->piece(target->allowed()[level]));
    }
    filling.words.push_back(std::move(words));
  }
  return filling;
}

Json key_of(const Model& model, const Task& task, const Entrant& entrant, const Scale& scale,
            Device device, std::uint64_t seed_of_chains) {
  Json key = {{"version", version()},
              {"model", model.sum},
              {"text", task.masked()},
              {"sampler", entrant.sampler}};
  if (!std::isnan(entrant.alpha)) key["alpha"] = entrant.alpha;
  key["chains"] = scale.chains;
  key["steps"] = scale.steps;
  if (scale.starts_alike) key["starts"] = "alike";
  key["device"] = device == Device::cuda ? "cuda" : "cpu";
  key["seed"] = seed_of_chains;
  return key;
}

std::string Filling::file_of(const Json& key) {
  Checksum sum;
  const std::string text = key.dump();
  sum.add_bytes(text.data(), text.size());
  std::string name = key["sampler"].get<std::string>();
  if (key.contains("alpha")) name += fmt::format("-{:g}", key["alpha"].get<double>());
  return fmt::format("{}-{}.json", name, sum.text());
}

}  // namespace saltus::reproduce::text
