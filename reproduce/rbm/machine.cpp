#include "reproduce/rbm/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reproduce/chains.hpp"
#include "reproduce/data/data_folder.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/learn/trainable_rbm.hpp"
#include "saltus/sampler/block_gibbs.hpp"

namespace saltus::reproduce {
namespace {

constexpr int kHidden = 500, kBatch = 100, kContrastiveSteps = 10;
// The chains behind the samples have numbers of their own, and so random numbers that no chain of
// the comparison has.
constexpr std::uint32_t kSampleChains = 1'000'000;

// The data's means, as the model's visible biases start from them.
std::vector<double> clipped_means(Rows<const Symbol> data) {
  std::vector<double> mean(static_cast<std::size_t>(data.cols));
  for (int r = 0; r < data.rows; ++r) {
    for (int i = 0; i < data.cols; ++i) mean[static_cast<std::size_t>(i)] += data[r][i];
  }
  for (double& m : mean) m = std::clamp(m / data.rows, 0.01, 0.99);
  return mean;
}

RowBuffer<Symbol> independent_bits(const std::vector<double>& mean, int rows,
                                   std::uint32_t first_chain, std::uint64_t seed) {
  RowBuffer<Symbol> x(rows, static_cast<int>(mean.size()));
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, first_chain + static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      x.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < mean[i];
    }
  }
  return x;
}

std::unique_ptr<const Rbm> train(Context& context, Rows<const Symbol> data,
                                 std::uint64_t iterations) {
  TrainableRbm model(data, kHidden, context.seed(0));
  LearningPlan plan;
  plan.batch = kBatch;
  plan.steps = kContrastiveSteps;
  plan.seed = context.seed(0);
  plan.threads = context.options().threads;
  ContrastiveDivergence learning(model, data, std::make_unique<BlockGibbs>(), plan);
  for (std::uint64_t k = 0; k < iterations; ++k) {
    if (k % 20 == 0) context.progress(fmt::format("training, batch {} of {}", k, iterations));
    learning.step();
  }
  const std::span<float> all = model.parameters();
  const auto visible = static_cast<std::ptrdiff_t>(data.cols);
  const auto b = all.begin() + visible * kHidden, c = b + visible;
  return std::make_unique<Rbm>(std::vector<double>(all.begin(), b), std::vector<double>(b, c),
                               std::vector<double>(c, all.end()));
}

RowBuffer<Symbol> block_gibbs_samples(Context& context, const Machine& machine,
                                      std::uint64_t sweeps) {
  constexpr std::uint64_t kAtOnce = 100;
  const int chains = Machine::kReference + Machine::kSecond;
  const std::uint64_t seed = context.seed(0);
  Ensemble ensemble(*machine.target, chains, 0, context.options().threads, seed);
  ensemble.start_from(independent_bits(machine.mean, chains, kSampleChains, seed).view());
  ensemble.count_chains_from(kSampleChains);
  ensemble.evaluate();
  for (std::uint64_t done = 0; done < sweeps; done += kAtOnce) {
    context.progress(fmt::format("reference samples, sweep {} of {}", done, sweeps));
    advance(ensemble, BlockGibbs(), std::min(kAtOnce, sweeps - done));
  }
  return states_of(ensemble, machine.target->domain().dim());
}

Rows<const Symbol> some_rows(const RowBuffer<Symbol>& all, int first, int count) {
  const Rows<Symbol> x = all.view();
  return {x[first], count, x.cols, x.stride};
}

// Machine::samples in a random order: Fisher & Yates.
RowBuffer<Symbol> shuffled(const RowBuffer<Symbol>& samples, std::uint64_t seed,
                           std::uint32_t which) {
  const Rows<Symbol> x = samples.view();
  std::vector<int> order(static_cast<std::size_t>(x.rows));
  std::iota(order.begin(), order.end(), 0);
  const Stream stream(seed, which, 0, Purpose::check);
  for (std::size_t k = order.size() - 1; k > 0; --k) {
    const double u = stream.uniform(static_cast<std::uint32_t>(k));
    std::swap(order[k], order[static_cast<std::size_t>(u * static_cast<double>(k + 1))]);
  }
  RowBuffer<Symbol> result(x.rows, x.cols);
  for (int r = 0; r < x.rows; ++r) {
    std::copy_n(x[order[static_cast<std::size_t>(r)]], x.cols, result.view()[r]);
  }
  return result;
}

}  // namespace

Rows<const Symbol> Machine::reference() const {
  return some_rows(samples, 0, kReference);
}

Rows<const Symbol> Machine::second() const {
  return some_rows(samples, kReference, kSecond);
}

RowBuffer<Symbol> Machine::start_states(std::uint64_t seed) const {
  if (!start.view()) return independent_bits(mean, kStart, 0, seed);
  RowBuffer<Symbol> copy(kStart, start.view().cols);
  for (int r = 0; r < kStart; ++r) std::copy_n(start.view()[r], copy.view().cols, copy.view()[r]);
  return copy;
}

Machine trained_machine(Context& context, Rows<const Symbol> data, const Effort& effort) {
  Machine machine;
  machine.name = "trained";
  machine.whole = effort == Effort{};
  machine.mean = clipped_means(data);
  const Stopwatch training;
  machine.target = train(context, data, effort.iterations);
  machine.training_seconds = training.seconds();
  const Stopwatch sampling;
  machine.samples = block_gibbs_samples(context, machine, effort.sweeps);
  machine.sampling_seconds = sampling.seconds();
  return machine;
}

std::optional<Machine> published_machine(const std::filesystem::path& data) {
  try {
    RbmReference read = load_rbm_reference(data);
    Machine machine;
    machine.name = "reference";
    machine.target = std::make_unique<Rbm>(std::move(read.weights), std::move(read.visible_bias),
                                           std::move(read.hidden_bias));
    machine.mean = std::move(read.init_mean);
    machine.samples = std::move(read.block_gibbs);
    machine.start = std::move(read.start);
    return machine;
  } catch (const FileError&) {
    return {};
  }
}

Floor floor_of(const Machine& machine, const MmdReference& reference, std::uint64_t seed) {
  Floor floor{};
  floor.second_set = std::log(reference.squared(machine.second()).v_statistic);
  floor.formula =
      std::log(mmd_floor(Machine::kSecond, Machine::kReference, reference.mean_kernel()));
  std::vector<double> splits;
  for (std::uint32_t k = 0; k < 50; ++k) {
    const RowBuffer<Symbol> all = shuffled(machine.samples, seed, k);
    const MmdReference y(some_rows(all, 0, Machine::kReference));
    const Rows<const Symbol> x = some_rows(all, Machine::kReference, Machine::kSecond);
    splits.push_back(std::log(y.squared(x).v_statistic));
  }
  const Measured m = measured(splits);
  floor.mean = m.mean;
  floor.sd = m.sd;
  return floor;
}

}  // namespace saltus::reproduce
