// Chains that the caller steps, for the C interface.
#include <algorithm>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/run/adapt.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "service/result_json.hpp"

using namespace saltus;
using namespace saltus::c;

namespace {

constexpr std::uint64_t kTuningRounds = 100, kTuningSteps = 100;  // as of a run's warm-up

// What the steps of one call did, and log p after the last of them.
class Watcher final : public StepObserver {
 public:
  Watcher(std::span<double> logp, std::uint64_t steps, AcceptanceSums* sums)
      : logp_(logp),
        last_(steps - 1),
        sums_(sums),
        acceptance_(logp.size()),
        changed_(logp.size()) {}

  bool wants_logp(std::uint64_t step) const override { return step == last_; }
  bool wants_states(std::uint64_t step) const override { return step == last_; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (std::size_t r = 0; r < info.size(); ++r) {
      const std::size_t chain = tile.first_slot + r;
      acceptance_[chain] += info[r].acceptance;
      changed_[chain] += info[r].changed;
      if (sums_) sums_->add(chain, info[r]);
      if (step == last_) logp_[chain] = tile.logp[r];
    }
  }

  // Means over chains and steps, summed in the order of the chains.
  double acceptance() const { return mean(acceptance_); }
  double changes() const { return mean(changed_); }

 private:
  double mean(const std::vector<double>& sums) const {
    double sum = 0;
    for (const double v : sums) sum += v;
    return sum / (static_cast<double>(sums.size()) * static_cast<double>(last_ + 1));
  }

  std::span<double> logp_;
  std::uint64_t last_;
  AcceptanceSums* sums_;
  std::vector<double> acceptance_, changed_;
};

struct ChainOptions {
  std::string sampler = "dmala", init = "random";
  Settings settings;
  int chains = 4;
  EnsemblePlan plan;
};

ChainOptions chain_options(const saltus_model& m, const char* text, bool starts_given) {
  Options o(text);
  ChainOptions c;
  o.take_sampler(c.sampler, c.settings);
  o.take("chains", c.chains, 1, 1'000'000'000);
  o.take("threads", c.plan.threads, 0, 4096);
  o.take("tile", c.plan.tile, 1, 1'000'000);
  o.take("init", c.init);
  o.take_seed(c.plan.seed);
  o.finish();
  const std::string names[] = {"random", "dispersed", "zeros", "ones"};
  if (std::ranges::find(names, c.init) == std::end(names)) {
    throw UsageError("init is " + c.init + "; expected random, dispersed, zeros or ones");
  }
  if (starts_given) c.init = "given";
  if (c.sampler == "auto")
    throw UsageError("name a sampler: a race chooses one for whole runs alone");
  check_sampler(m, c.sampler, c.settings);
  c.plan.threads = threads_for(m, c.plan.threads);
  return c;
}

}  // namespace

struct saltus_chains {
  saltus_chains(const saltus_model& model, const ChainOptions& options)
      : target(model.target),
        whole(model.whole),
        sampler(make_sampler(options.sampler, *target, options.settings)),
        ensemble({{target.get(), options.chains}}, plan_of(options)),
        logp(static_cast<std::size_t>(options.chains)) {
    require(*sampler, *target);
  }

  void start(const ChainOptions& options, const saltus_model& model, const std::uint16_t* states) {
    if (options.init == "random") {
      ensemble.start_random();
    } else if (options.init == "dispersed") {
      ensemble.start_dispersed();
    } else {
      const RowBuffer<Symbol> rows = states ? free_rows(model, logp.size(), states, "the starts")
                                            : same_rows(options.init == "ones");
      ensemble.start_from(rows.view());
    }
    ensemble.evaluate();
    Scratch scratch;
    const RowBuffer<Symbol> x(1, target->domain().dim());
    for (int c = 0; c < ensemble.chains(); ++c) {
      std::copy_n(ensemble.state(c), target->domain().dim(), x.view()[0]);
      target->evaluate_exact({0, 0, scratch}, x.view(), &logp[static_cast<std::size_t>(c)], {});
    }
  }

  void advance(std::uint64_t steps, AcceptanceSums* sums = nullptr) {
    Watcher watcher(logp, steps, sums);
    ensemble.advance(*sampler, steps, watcher);
    acceptance = watcher.acceptance();
    changes = watcher.changes();
  }

  void tune(std::uint64_t steps) {
    if (ensemble.step() > 0) throw UsageError("chains are tuned before their other steps");
    if (!sampler->tunable()) return advance(steps);
    const std::uint64_t length = std::clamp<std::uint64_t>(steps / kTuningRounds, 1, kTuningSteps);
    Tuner tuner(sampler, ensemble.chains(), (steps + length - 1) / length, nullptr);
    while (ensemble.step() < steps) {
      const std::uint64_t left = steps - ensemble.step();
      sampler = tuner.sampler(Tunable::Phase::warmup);
      advance(std::min(left, length), &tuner.sums());
      tuner.end_round();
    }
    sampler = tuner.sampler(Tunable::Phase::draws);
  }

  std::shared_ptr<const Target> target;
  std::shared_ptr<const WholeModel> whole;
  std::shared_ptr<const Sampler> sampler;
  Ensemble ensemble;
  std::vector<double> logp;
  double acceptance = NAN, changes = NAN;

 private:
  EnsemblePlan plan_of(const ChainOptions& options) const {
    EnsemblePlan plan = options.plan;
    if (sampler->interacting()) plan.tile = options.chains;
    return plan;
  }
  RowBuffer<Symbol> same_rows(bool upper) const {
    RowBuffer<Symbol> rows(static_cast<int>(logp.size()), target->domain().dim());
    for (int c = 0; c < rows.view().rows; ++c) {
      std::fill_n(rows.view()[c], target->domain().dim(), static_cast<Symbol>(upper));
    }
    return rows;
  }
};

extern "C" {

int saltus_chains_new(const saltus_model* model, const char* options, const uint16_t* start,
                      saltus_chains** chains) {
  return guarded([&] {
    need(model, "model"), need(chains, "chains");
    const ChainOptions chosen = chain_options(*model, options, start != nullptr);
    auto made = std::make_unique<saltus_chains>(*model, chosen);
    made->start(chosen, *model, start);
    *chains = made.release();
    return SALTUS_OK;
  });
}

int saltus_chains_tune(saltus_chains* chains, uint64_t steps) {
  return guarded([&] {
    need(chains, "chains");
    if (steps > 0) chains->tune(steps);
    return SALTUS_OK;
  });
}

int saltus_chains_step(saltus_chains* chains, uint64_t steps) {
  return guarded([&] {
    need(chains, "chains");
    if (steps > 0) chains->advance(steps);
    return SALTUS_OK;
  });
}

int saltus_chains_states(const saltus_chains* chains, uint16_t* levels, double* logp) {
  return guarded([&] {
    need(chains, "chains");
    const WholeModel* whole = chains->whole.get();
    const int dim = whole ? whole->given.domain().dim() : chains->target->domain().dim();
    for (int c = 0; levels && c < chains->ensemble.chains(); ++c) {
      std::uint16_t* const row = levels + std::ptrdiff_t{c} * dim;
      const Symbol* const state = chains->ensemble.state(c);
      if (whole) {
        whole->given.scatter(state, row);
      } else {
        std::copy_n(state, dim, row);
      }
    }
    if (logp) std::ranges::copy(chains->logp, logp);
    return SALTUS_OK;
  });
}

int saltus_chains_info(const saltus_chains* chains, char** json) {
  return guarded([&] {
    need(chains, "chains"), need(json, "json");
    *json = copied(OrderedJson{{"step", chains->ensemble.step()},
                               {"sampler", chains->sampler->name()},
                               {"parameters", parameters_json(chains->sampler->parameters())},
                               {"acceptance_rate", json_number(chains->acceptance)},
                               {"changes", json_number(chains->changes)}}
                       .dump());
    return SALTUS_OK;
  });
}

void saltus_chains_free(saltus_chains* chains) {
  delete chains;
}
}
