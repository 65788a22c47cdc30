#include "saltus/anneal/search.hpp"

#include <algorithm>
#include <cmath>

#include "anneal/ascent.hpp"
#include "anneal/search_chains.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"

namespace saltus {
namespace {

void check_search(const SearchPlan& plan, const Sampler& sampler, const Target& target) {
  if (plan.restarts < 1) throw UsageError("a search needs at least one restart");
  if (plan.betas.empty()) throw UsageError("a search needs at least one beta");
  for (const double b : plan.betas) {
    if (!(b > 0 && std::isfinite(b))) {
      throw UsageError("the betas of a search must be above 0; one is " + std::to_string(b));
    }
  }
  if (plan.resample && plan.reduction && !plan.team) {
    throw UsageError("a population is resampled as a whole: it cannot be run in parts");
  }
  if (target.stochastic()) {
    throw UsageError("log p of the model " + target.name() +
                     " is a mini-batch estimate: its states cannot be told apart by it");
  }
  if (sampler.interacting()) {
    throw UsageError(sampler.name() + " moves all chains together: restarts must be independent");
  }
}

}  // namespace

double logp_tolerance(double logp) {
  return 1e-9 * std::max(1.0, std::abs(logp));
}

Search::Search(const Target& target, std::shared_ptr<const Sampler> sampler, const SearchPlan& plan)
    : target_(target), sampler_(std::move(sampler)), plan_(plan) {
  check_search(plan_, *sampler_, target_);
  const auto restarts = static_cast<std::size_t>(plan.restarts);
  found_.logp.resize(restarts), found_.step.resize(restarts), found_.last_logp.resize(restarts);
  found_.state = RowBuffer<Symbol>(plan.restarts, target.domain().dim());
  if (plan.trace) found_.trace.resize(restarts);
  if (plan.in_lanes && !plan.resample) chains_ = make_spin_chains(target_, sampler_, plan_, found_);
  in_lanes_ = chains_ != nullptr;
  if (!chains_) chains_ = make_engine_chains(target_, sampler_, plan_, found_);
  chains_->start();
}

Search::~Search() = default;

std::optional<Population> Search::population() const {
  return chains_->population();
}

bool Search::go(const BetweenRounds& between_rounds) {
  const std::size_t all = plan_.betas.size();
  const std::size_t round =
      plan_.team ? plan_.team->share_value(chains_->round()) : chains_->round();
  while (made_ < all) {
    const std::size_t count = std::min(round, all - made_);
    chains_->advance(std::span(plan_.betas).subspan(made_, count), made_);
    made_ += count;
    sampler_ = chains_->sampler();
    if (between_rounds && !between_rounds(made_, all)) break;
  }
  return made_ == all;
}

void finish_states(const Target& target, Found& found, bool polish, int threads) {
  const auto places = static_cast<int>(found.logp.size());
  ThreadPool pool(useful_threads(threads, places));
  pool.for_each(places, [&](int place, int) {
    Symbol* x = found.state.view()[place];
    if (polish) greedy_ascent(target, x);
    found.logp[static_cast<std::size_t>(place)] = logp_of(target, x);
  });
}

}  // namespace saltus
