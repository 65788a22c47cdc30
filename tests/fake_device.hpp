// A target on a device that is none: its chains are advanced by the sampler itself, in one tile.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/target/tempered.hpp"

namespace saltus {

// What happened on the device, over all chains made for a target.
struct DeviceLog {
  int made = 0, puts = 0, gets = 0, evaluations = 0;
  std::uint64_t steps = 0, moves = 0, states_sent = 0;
};

class FakeChains final : public DeviceChains {
 public:
  FakeChains(const Target& target, int chains, std::uint64_t seed, std::string served,
             DeviceLog& log)
      : target_(target),
        served_(std::move(served)),
        log_(log),
        x_(chains, target.domain().dim()),
        y_(chains, target.domain().dim()),
        score_(chains, target.domain().score_size()),
        y_score_(chains, target.domain().score_size()),
        logp_(static_cast<std::size_t>(chains)),
        y_logp_(logp_.size()),
        info_(logp_.size()) {
    ++log_.made;
    tile_.x = x_.view(), tile_.score = score_.view(), tile_.logp = logp_.data();
    work_.proposal.x = y_.view(), work_.proposal.score = y_score_.view();
    work_.proposal.logp = y_logp_.data();
    work_.seed = seed;
  }

  bool serves(const Sampler& sampler, const Independent*) const override {
    return sampler.name() == served_;
  }
  void count_chains_from(std::uint32_t first) override { tile_.first_chain = first; }

  void put_states(Rows<const Symbol> states) override {
    ++log_.puts;
    for (int r = 0; r < states.rows; ++r) std::copy_n(states[r], states.cols, tile_.x[r]);
    tile_.logp_current = tile_.score_current = false;
  }
  void get_states(Rows<Symbol> states) const override {
    ++log_.gets;
    for (int r = 0; r < states.rows; ++r) std::copy_n(tile_.x[r], states.cols, states[r]);
  }

  void evaluate(std::uint64_t step, std::span<double> logp) override {
    ++log_.evaluations;
    target_.evaluate(work_.at(step), tile_.x, tile_.logp, tile_.score);
    tile_.logp_current = tile_.score_current = true;
    std::copy_n(tile_.logp, logp.size(), logp.data());
  }

  void advance(const Sampler& sampler, const Law& law, std::uint64_t step, std::uint64_t steps,
               StepObserver& observer) override {
    if (!tile_.logp_current) throw UsageError("not evaluated");
    tile_.step = step;
    std::optional<Tempered> tempered;
    if (law.beta < 1) {
      tempered.emplace(target_, *law.base).set_beta(law.beta);
      tempered->evaluate(work_.at(step), tile_.x, tile_.logp, tile_.score);
    }
    const Target& target = tempered ? *tempered : target_;
    make_sampler_cache(sampler, target);
    for (std::uint64_t k = 0; k < steps; ++k) {
      work_.want_logp = true;
      sampler.step(target, tile_, work_, info_);
      Tile told = tile_;
      told.score = {};
      if (!observer.wants_states(k)) told.x.data = nullptr;
      log_.states_sent += observer.wants_states(k);
      observer.after_step(told, info_, k);
    }
    log_.steps += steps;
    if (tempered) target_.evaluate(work_.at(tile_.step), tile_.x, tile_.logp, tile_.score);
  }

  // As an ensemble does it.
  void anneal(const Sampler& sampler, std::uint64_t step, const Path& way,
              const Annealed& out) override {
    if (!tile_.logp_current) throw UsageError("not evaluated");
    Tempered path(target_, *way.base);
    tile_.step = step;
    path.set_beta(way.betas[0]);
    if (path.beta() > 0) path.evaluate(work_.at(step), tile_.x, tile_.logp, {});
    const std::size_t moves = way.betas.size() - 1;
    for (std::size_t k = 0; k < moves; ++k) {
      const std::vector<double> ratios = ratios_at(path, step);
      path.set_beta(way.betas[k + 1]);
      path.evaluate(work_.at(step), tile_.x, nullptr, tile_.score);
      for (int r = 0; r < tile_.rows(); ++r) {
        const double ratio = ratios[static_cast<std::size_t>(r)];
        out.log_weights[static_cast<std::size_t>(r)] += (way.betas[k + 1] - way.betas[k]) * ratio;
        tile_.logp[r] = path.base().log_probability(tile_.x[r]) + path.beta() * ratio;
      }
      if (k + 1 == moves && way.stop_short) break;
      make_sampler_cache(sampler, path);
      for (int s = 0; s < way.steps_per_beta; ++s) {
        sampler.step(path, tile_, work_, info_);
        for (std::size_t r = 0; r < info_.size(); ++r) out.acceptance[r] += info_[r].acceptance;
      }
    }
    log_.moves += moves;
    tile_.logp_current = true;
    target_.evaluate(work_.at(step), tile_.x, tile_.logp, tile_.score);
  }

  Evaluations evaluations() const override { return work_.evaluations; }
  void reset_evaluations() override { work_.evaluations = {}; }

 private:
  // log p - log p_0 of the states.
  std::vector<double> ratios_at(const Tempered& path, std::uint64_t step) {
    std::vector<double> ratios(tile_.logp, tile_.logp + tile_.rows());
    if (path.beta() == 0) target_.evaluate(work_.at(step), tile_.x, ratios.data(), {});
    for (int r = 0; r < tile_.rows(); ++r) {
      double& ratio = ratios[static_cast<std::size_t>(r)];
      ratio = path.beta() == 0 ? ratio - path.base().log_probability(tile_.x[r])
                               : path.log_ratio(tile_.x[r], ratio);
    }
    return ratios;
  }

  void make_sampler_cache(const Sampler& sampler, const Target& target) {
    const int size = sampler.cache_size(target);
    own_ = size > 0 ? RowBuffer<float>(tile_.rows(), size) : RowBuffer<float>();
    tile_.sampler_cache = own_.view();
    if (size > 0) sampler.start(target, tile_, work_);
  }

  const Target& target_;
  std::string served_;
  DeviceLog& log_;
  RowBuffer<Symbol> x_, y_;
  RowBuffer<float> score_, y_score_, own_;
  std::vector<double> logp_, y_logp_;
  Tile tile_;
  Workspace work_;
  std::vector<StepInfo> info_;
};

// A target without abilities, so that steps carry no values along; with a device that serves one
// sampler, or with none.
class FakeDeviceTarget final : public Target, public OnDevice {
 public:
  FakeDeviceTarget(const Target& model, std::string served)
      : model_(model), served_(std::move(served)) {}

  std::string name() const override { return model_.name(); }
  const Domain& domain() const override { return model_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    model_.evaluate(at, x, logp, score);
  }
  const OnDevice* on_device() const override { return served_.empty() ? nullptr : this; }
  std::unique_ptr<DeviceChains> make_chains(int chains, std::uint64_t seed) const override {
    return std::make_unique<FakeChains>(*this, chains, seed, served_, log);
  }

  mutable DeviceLog log;

 private:
  const Target& model_;
  std::string served_;
};

}  // namespace saltus
