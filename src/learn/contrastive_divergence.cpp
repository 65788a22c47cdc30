#include "saltus/learn/contrastive_divergence.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"

namespace saltus {
namespace {

// Even numbers of tiles of about the same size, so that two threads have the same to do; and 16 or
// more, for as many threads, once that leaves 16 chains for each. A function of the model and the
// number of chains alone.
int tile_of(const Target& target, const Sampler& sampler, int chains) {
  if (sampler.interacting()) return chains;
  int most = target.preferred_tile();
  if (chains >= 16 * 16) most = std::min(most, chains / 16);
  const int pairs = (chains + 2 * most - 1) / (2 * most);
  return (chains + 2 * pairs - 1) / (2 * pairs);
}

LearningChains::Plan chains_of(const Target& target, const Sampler& sampler,
                               const LearningPlan& plan) {
  const int chains = plan.chains > 0 ? plan.chains : plan.batch;
  return {chains, tile_of(target, sampler, chains), plan.threads, plan.seed, plan.team};
}

// Parameters that are treated together.
constexpr std::size_t kBlock = 16384;

}  // namespace

ContrastiveDivergence::ContrastiveDivergence(Trainable& model, Rows<const Symbol> data,
                                             std::unique_ptr<const Sampler> sampler,
                                             const LearningPlan& plan)
    : model_(model),
      data_(data),
      sampler_(std::move(sampler)),
      plan_(plan),
      batches_(data.rows, plan.batch, plan.drop_last, plan.seed),
      chains_(model.target(), chains_of(model.target(), *sampler_, plan)),
      pool_(plan.threads),
      adam_(model.parameters().size(), plan.adam),
      batch_(plan.batch, data.cols),
      gradient_(model.parameters().size()) {
  const Domain& domain = model.target().domain();
  if (data.cols != domain.dim()) {
    throw DataError("the data have rows of " + std::to_string(data.cols) +
                    " entries, but the model has " + std::to_string(domain.dim()) + " coordinates");
  }
  if (plan.steps < 1) throw UsageError("an iteration needs at least one step of the sampler");
  if (!(plan.l1 >= 0 && std::isfinite(plan.l1))) throw UsageError("l1 must be 0 or a number above");
  if (const Tunable* tunable = sampler_->tunable()) {
    const std::string parameter = tunable->tuning().front().parameter;
    throw UsageError("the sampler " + sampler_->name() + " would tune its " + parameter +
                     " in warm-up, which learning does not have: give the " + parameter);
  }
  if (!idle()) chains_.start_random();
}

void ContrastiveDivergence::load_batch() {
  const std::span<const std::int32_t> rows = batches_.at(iteration_);
  for (int r = 0; r < plan_.batch; ++r) {
    std::copy_n(data_[rows[static_cast<std::size_t>(r)]], data_.cols, batch_.view()[r]);
  }
}

void ContrastiveDivergence::sample(LearningInfo& info) {
  const Rows<Symbol> x = chains_.states();
  if (plan_.chains == 0) {
    for (int r = 0; r < plan_.batch; ++r) std::copy_n(batch_.view()[r], x.cols, x[r]);
  }
  chains_.advance(*sampler_, {iteration_ * plan_.steps, plan_.steps});
  chains_.set_means(plan_.steps, info);
  info.difference = NAN;
  if (plan_.chains > 0) return;
  std::uint64_t different = 0;
  for (int r = 0; r < plan_.batch; ++r) {
    for (int i = 0; i < data_.cols; ++i) {
      different += batch_.view()[r][i] != x[r][i];
    }
  }
  info.difference = static_cast<double>(different) / plan_.batch / data_.cols;
}

// Makes the gradient of the loss from the contrast; returns the penalty. In blocks, whose sums are
// added in their order: the same for any number of threads.
double ContrastiveDivergence::penalty_and_loss_gradient() {
  const std::span<const float> p = model_.parameters();
  const std::size_t weights = plan_.l1 > 0 ? model_.weights() : 0;
  const auto l1 = static_cast<float>(plan_.l1);
  std::vector<double> sums((p.size() + kBlock - 1) / kBlock);
  pool_.for_each(static_cast<int>(sums.size()), [&](int block, int) {
    const std::size_t first = static_cast<std::size_t>(block) * kBlock;
    const std::size_t last = std::min(first + kBlock, p.size());
    const std::size_t penalised = std::clamp(weights, first, last);
    double sum = 0;
    for (std::size_t i = first; i < penalised; ++i) {
      const float sign = static_cast<float>(p[i] > 0) - static_cast<float>(p[i] < 0);
      gradient_[i] = l1 * sign - gradient_[i];
    }
    for (std::size_t i = first; i < penalised; ++i) sum += double{std::abs(p[i])};
    for (std::size_t i = penalised; i < last; ++i) gradient_[i] = -gradient_[i];
    sums[static_cast<std::size_t>(block)] = sum;
  });
  return plan_.l1 * std::accumulate(sums.begin(), sums.end(), 0.0);
}

LearningInfo ContrastiveDivergence::step() {
  LearningInfo info;
  Stopwatch clock;
  load_batch();
  sample(info);
  info.sampling_seconds = clock.lap();
  info.gap = model_.contrast(batch_.view(), samples(), gradient_, {pool_, team()});
  info.gradient_seconds = clock.lap();
  info.loss = penalty_and_loss_gradient() - info.gap;
  if (!std::isfinite(info.loss)) {
    throw DataError("learning failed in iteration " + std::to_string(iteration_) +
                    ": the loss is no longer a finite number; a smaller learning rate may help");
  }
  adam_.step(model_.parameters(), gradient_);
  model_.parameters_changed();
  ++iteration_;
  info.update_seconds = clock.lap();
  return info;
}

void ContrastiveDivergence::save(ByteWriter& out) const {
  out.put(iteration_);
  out.put_array(std::span<const float>(model_.parameters()));
  adam_.save(out);
  for (int r = 0; r < samples().rows; ++r) out.put_array(samples().row(r));
}

void ContrastiveDivergence::restore(ByteReader& in) {
  iteration_ = in.get<std::uint64_t>();
  in.get_array(model_.parameters());
  adam_.restore(in);
  const Rows<Symbol> x = chains_.states();
  for (int r = 0; r < x.rows; ++r) in.get_array(x.row(r));
  model_.parameters_changed();
}

}  // namespace saltus
