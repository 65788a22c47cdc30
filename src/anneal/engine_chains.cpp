// Restarts as chains of an Ensemble.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "anneal/search_chains.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/run/adapt.hpp"
#include "saltus/run/ensemble.hpp"

namespace saltus {
namespace {

// Updates of coordinates between two questions whether to stop, and steps at most.
constexpr std::size_t kRoundUpdates = std::size_t{1} << 22, kRoundSteps = 64;

class EngineChains final : public SearchChains, private StepObserver {
 public:
  EngineChains(const Target& target, std::shared_ptr<const Sampler> sampler, const SearchPlan& plan,
               Found& found)
      : target_(target),
        original_(std::move(sampler)),
        sampler_(original_),
        plan_(plan),
        found_(found),
        base_(std::make_shared<const Independent>(Independent::uniform(target))),
        beta_(plan.betas.front()),
        ensemble_({{&target, plan.restarts, base_, beta_}},
                  {plan.seed, plan.threads, 0, plan.first_restart}),
        log_weights_(found.logp.size()),
        acceptance_(found.logp.size()),
        sums_(plan.restarts, parameters()) {
    require(*original_, target_);
    log_z_ = -base_->log_probability(found.state.view()[0]);  // uniform: the same of all states
    if (plan.resample) begin_population();
    if (!original_->tunable()) return;
    for (const Tuning& t : original_->tunable()->tuning()) values_.push_back(t.start);
    sampler_ = original_->tunable()->tuned(values_, Tunable::Phase::warmup);
  }

  void start() override {
    ensemble_.start_random();
    ensemble_.evaluate();
    ThreadPool pool(useful_threads(plan_.threads, plan_.restarts));
    pool.for_each(plan_.restarts, [&](int place, int) {
      const Symbol* x = ensemble_.state(place);
      const auto dim = static_cast<std::size_t>(target_.domain().dim());
      note(found_, static_cast<std::size_t>(place), logp_of(target_, x), 0, {x, dim});
    });
  }

  void advance(std::span<const double> betas, std::size_t first) override {
    if (plan_.resample) resample(betas.front() - (first == 0 ? 0 : beta_), first);
    betas_.assign(1, beta_);
    betas_.insert(betas_.end(), betas.begin(), betas.end());
    first_ = first;
    ensemble_.anneal(*sampler_, {betas_, 1, false, this}, {log_weights_, acceptance_});
    beta_ = betas.back();
    if (original_->tunable()) tune();
  }

  std::shared_ptr<const Sampler> sampler() const override { return sampler_; }

  std::optional<Population> population() const override {
    if (!plan_.resample) return std::nullopt;
    std::vector<double> members(families_.size());
    for (const std::size_t f : families_) ++members[f];
    Population p{log_z_, 0, 0};
    const auto all = static_cast<double>(members.size());
    for (const double m : members) {
      p.families += m > 0;
      p.rho_t += m * m / all;
    }
    return p;
  }

  std::size_t round() const override {
    if (original_->tunable() || plan_.resample) return 1;
    const std::size_t updates =
        found_.logp.size() * static_cast<std::size_t>(found_.state.view().cols);
    return std::clamp<std::size_t>(kRoundUpdates / updates, 1, kRoundSteps);
  }

 private:
  std::size_t parameters() const {
    return original_->tunable() ? original_->tunable()->tuning().size() : 0;
  }

  bool wants_logp(std::uint64_t) const override { return true; }

  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    const double b = betas_[step + 1];
    for (std::size_t r = 0; r < info.size(); ++r) {
      const std::size_t place = tile.first_slot + r;
      if (!values_.empty()) sums_.add(place, info[r]);
      const Symbol* x = tile.x[static_cast<int>(r)];
      const double logp = (tile.logp[r] - (1 - b) * base_->log_probability(x)) / b;
      note(found_, place, logp, first_ + step + 1, {x, static_cast<std::size_t>(tile.x.cols)});
    }
  }

  // Of all restarts, and where those of this part stand among them.
  void begin_population() {
    counts_ = {plan_.restarts};
    if (Team* const team = plan_.team) {
      const std::vector<double> counts =
          team->gather(std::vector{static_cast<double>(plan_.restarts)});
      counts_.assign(counts.begin(), counts.end());
      before_ = std::accumulate(counts_.begin(), counts_.begin() + team->rank(), 0);
    }
    families_.resize(static_cast<std::size_t>(std::accumulate(counts_.begin(), counts_.end(), 0)));
    std::iota(families_.begin(), families_.end(), std::size_t{0});
  }

  // The states of all restarts: parents may be those of another part.
  RowBuffer<Symbol> population_states() const {
    RowBuffer<Symbol> all(static_cast<int>(families_.size()), target_.domain().dim());
    const Rows<Symbol> rows = all.view();
    for (int r = 0; r < plan_.restarts; ++r) {
      std::copy_n(ensemble_.state(r), rows.cols, rows[before_ + r]);
    }
    const std::size_t size = families_.size() * static_cast<std::size_t>(rows.stride);
    if (plan_.team) {
      plan_.team->exchange(std::as_writable_bytes(std::span(rows.data, size)), counts_);
    }
    return all;
  }

  // Copies members by their weights, systematically: those at (u + i) / R of the sum of weights.
  void resample(double difference, std::size_t step) {
    const std::vector<double> logp =
        plan_.team ? plan_.team->gather(found_.last_logp) : found_.last_logp;
    const double top = *std::ranges::max_element(logp);
    std::vector<double> until;  // sums of weights
    for (const double l : logp) {
      until.push_back((until.empty() ? 0 : until.back()) + std::exp(difference * (l - top)));
    }
    const auto all = static_cast<double>(until.size());
    log_z_ += difference * top + std::log(until.back() / all);
    const double u = Stream(plan_.seed, kAllChains, step, Purpose::resample).uniform();
    const RowBuffer<Symbol> parents = population_states();
    const RowBuffer<Symbol> states(plan_.restarts, target_.domain().dim());
    std::vector<std::size_t> families;
    std::size_t parent = 0;
    for (int i = 0; i < static_cast<int>(logp.size()); ++i) {
      while (parent + 1 < until.size() && until[parent] <= (u + i) / all * until.back()) ++parent;
      families.push_back(families_[parent]);
      const int place = i - before_;
      if (place < 0 || place >= plan_.restarts) continue;
      std::copy_n(parents.view()[static_cast<int>(parent)], states.view().cols,
                  states.view()[place]);
      found_.last_logp[static_cast<std::size_t>(place)] = logp[parent];
    }
    families_ = std::move(families);
    ensemble_.start_from(states.view(), ensemble_.step());
  }

  // One update of each parameter: the temperature moves, so that there is no value to settle on.
  void tune() {
    const std::vector<Tuning> tuning = original_->tunable()->tuning();
    for (std::size_t p = 0; p < values_.size(); ++p) {
      const double acceptance = sums_.mean(p, plan_.reduction);
      if (std::isnan(acceptance)) continue;
      values_[p] = std::clamp(values_[p] + (acceptance - tuning[p].acceptance), tuning[p].low,
                              tuning[p].high);
    }
    sums_.clear();
    sampler_ = original_->tunable()->tuned(values_, Tunable::Phase::warmup);
  }

  const Target& target_;
  std::shared_ptr<const Sampler> original_, sampler_;
  SearchPlan plan_;
  Found& found_;
  std::shared_ptr<const Independent> base_;
  double beta_;
  Ensemble ensemble_;
  std::vector<double> log_weights_, acceptance_, betas_, values_;
  std::size_t first_ = 0;
  std::vector<std::size_t> families_;  // of a population: each member's ancestor at the start
  std::vector<int> counts_;            // restarts of each part of a population
  int before_ = 0;                     // restarts of earlier parts
  double log_z_ = 0;
  AcceptanceSums sums_;
};

}  // namespace

std::unique_ptr<SearchChains> make_engine_chains(const Target& target,
                                                 std::shared_ptr<const Sampler> sampler,
                                                 const SearchPlan& plan, Found& found) {
  return std::make_unique<EngineChains>(target, std::move(sampler), plan, found);
}

}  // namespace saltus
