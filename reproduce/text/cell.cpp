#include "reproduce/text/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/checksum.hpp"
#include "reproduce/chains.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/torch/module.hpp"
#include "saltus/version.hpp"

namespace saltus::reproduce::text {
namespace {

constexpr const char* kWanted = "the experiment text";
constexpr std::uint64_t kStepsAtOnce = 5;  // between looks at the clock and at the keyboard

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

Filling run_cell(Context& context, const Model& model, const Task& task, const Entrant& entrant,
                 const Scale& scale, std::uint64_t seed_of_chains, const std::string& doing) {
  const auto target = model.fill(make_infill_problem(model.bert, task.masked()));
  const auto sampler =
      entrant.sampler == "gibbs" ? make_conditional_gibbs(*target) : entrant.make(*target);
  const Stopwatch clock;
  const RowBuffer<Symbol> states = draw_from_marginals(*target, scale.chains, seed_of_chains);
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
