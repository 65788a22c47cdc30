#include "saltus/anneal/annealing.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kRound = 64;  // moves between two calls of `between_rounds`

}  // namespace

std::vector<double> linear_betas(int count) {
  if (count < 2) throw UsageError("there must be at least two betas");
  std::vector<double> betas;
  for (int k = 0; k < count; ++k) betas.push_back(k / static_cast<double>(count - 1));
  return betas;
}

void check_betas(const std::vector<double>& betas) {
  if (betas.size() < 2 || betas.front() != 0 || betas.back() != 1) {
    throw UsageError("betas must begin with 0 and end with 1");
  }
  for (std::size_t k = 1; k < betas.size(); ++k) {
    if (!(betas[k] > betas[k - 1])) {
      throw UsageError("betas must increase; number " + std::to_string(k + 1) + " does not");
    }
  }
}

void check_plan(const AnnealingPlan& plan) {
  check_betas(plan.betas);
  if (plan.steps_per_beta < 1) throw UsageError("each beta needs at least one step");
  if (plan.chains < (plan.reduction ? 1 : 2))
    throw UsageError("annealed importance sampling needs at least two chains");
}

void check_annealing(const Sampler& sampler, const Target& target) {
  if (!sampler.exact() || target.stochastic()) {
    throw UsageError(sampler.name() + " biases the estimate; use dmala, gwg or gibbs");
  }
  // Values that a sampler keeps beside the states may be a part of the chain's state (rmala),
  // unless a transition matrix shows that they are not.
  const bool on_states = sampler.enumerable() || sampler.cache_size(target) == 0;
  if (sampler.interacting() || !sampler.random() || !on_states) {
    throw UsageError(sampler.name() +
                     " is no Markov chain on the model's states; use dmala, gwg or gibbs");
  }
}

namespace {

const AnnealingPlan& checked(const AnnealingPlan& plan, const Sampler& sampler,
                             const Tempered& path) {
  check_plan(plan);
  check_annealing(sampler, path);
  return plan;
}

std::vector<double> in_direction(std::vector<double> betas, Annealing::Direction direction) {
  if (direction == Annealing::Direction::reverse) std::reverse(betas.begin(), betas.end());
  return betas;
}

}  // namespace

Annealing::Annealing(const Tempered& path, const Sampler& sampler, const AnnealingPlan& plan,
                     Direction direction)
    : sampler_(sampler),
      plan_(checked(plan, sampler, path)),
      betas_(in_direction(plan.betas, direction)),
      log_weights_(static_cast<std::size_t>(plan.chains)),
      acceptance_(log_weights_.size()),
      ensemble_({{&path.model(), plan.chains, path.shared_base(), betas_.front()}},
                {plan.seed, plan.threads, plan.tile, plan.first_chain}) {}

void Annealing::start() {
  ensemble_.start_from_base();
  begin();
}

void Annealing::start(Rows<const Symbol> states) {
  ensemble_.start_from(states);
  begin();
}

void Annealing::begin() {
  ensemble_.set_beta(0, betas_.front());
  made_ = 0;
  std::fill(log_weights_.begin(), log_weights_.end(), 0.0);
  std::fill(acceptance_.begin(), acceptance_.end(), 0.0);
}

// Transitions after the last move would not enter any weight.
bool Annealing::go(const std::function<bool(std::size_t, std::size_t)>& between_rounds) {
  const std::size_t moves = betas_.size() - 1;
  while (made_ < moves) {
    const std::size_t end = std::min(made_ + kRound, moves);
    const std::span betas(betas_.data() + made_, end - made_ + 1);
    ensemble_.anneal(sampler_, {betas, plan_.steps_per_beta, end == moves},
                     {log_weights_, acceptance_});
    made_ = end;
    if (between_rounds && !between_rounds(made_, moves)) break;
  }
  return made_ == moves;
}

double Annealing::acceptance(Reduction* reduction) const {
  const std::vector<double> all = reduction ? reduction->gather(acceptance_) : acceptance_;
  double sum = 0;
  for (double a : all) sum += a;
  return sum / (static_cast<double>(ensemble_.step()) * static_cast<double>(all.size()));
}

void Annealing::save(ByteWriter& out) const {
  out.put(std::uint64_t{made_});
  ensemble_.save(out);
  out.begin_units();
  for (std::size_t chain = 0; chain < log_weights_.size(); ++chain) {
    out.put(log_weights_[chain], acceptance_[chain]);
    out.end_unit();
  }
  out.end_units();
}

void Annealing::restore(ByteReader& in) {
  made_ = in.get<std::uint64_t>();
  if (made_ >= betas_.size()) throw DataError("the saved annealing has another schedule");
  ensemble_.restore(in);
  ByteReader chains = in.units(log_weights_.size());
  for (std::size_t chain = 0; chain < log_weights_.size(); ++chain) {
    chains.get(log_weights_[chain], acceptance_[chain]);
  }
}

}  // namespace saltus
