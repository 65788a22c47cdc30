// Chains of an ensemble at other temperatures than the model's.
#include <algorithm>
#include <cmath>

#include "run/ensemble_parts.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

double Ensemble::beta(int group) const {
  return groups_[index(group)]->law.beta;
}

void Ensemble::set_beta(int group, double beta) {
  Group& g = *groups_[index(group)];
  if (!g.law.base) throw UsageError("chains without a base stay at beta = 1");
  g.law.beta = beta;
  for (std::size_t t = g.first_tile; t < g.first_tile + g.tiles; ++t) {
    Storage& storage = *tiles_[t];
    if (!storage.tile.logp_current && !storage.tile.score_current) {
      storage.tempered->set_beta(beta);
      continue;
    }
    ThreadWorkspace& thread = *g.threads.front();
    log_ratios(storage, thread.work, thread.ratios);
    storage.change_beta(beta, thread.ratios);
  }
}

// log p - log p_0 of the model; where beta is 0, log p is evaluated.
void Ensemble::log_ratios(Storage& storage, Workspace& work, std::span<double> out) const {
  Tile& tile = storage.tile;
  const Tempered& law = *storage.tempered;
  if (law.beta() == 0) {
    storage.model->evaluate(work.at(tile.step), tile.x, out.data(), {});
    for (int r = 0; r < tile.rows(); ++r) {
      out[index(r)] -= law.base().log_probability(tile.x[r]);
    }
    return;
  }
  if (!tile.logp_current) {
    law.evaluate(work.at(tile.step), tile.x, tile.logp, {});
    tile.logp_current = true;
  }
  for (int r = 0; r < tile.rows(); ++r) out[index(r)] = law.log_ratio(tile.x[r], tile.logp[r]);
}

void Ensemble::anneal_tile(Storage& storage, ThreadWorkspace& thread, const Sampler& sampler,
                           const Schedule& schedule, const Annealed& out) const {
  Tile& tile = storage.tile;
  Workspace& work = thread.work;
  const std::span<const double> betas = schedule.betas;
  const std::span info(thread.info.data(), index(tile.rows()));
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    log_ratios(storage, work, thread.ratios);
    for (std::size_t r = 0; r < info.size(); ++r) {
      const bool forbidden = thread.ratios[r] == -INFINITY && storage.model->forbidden_states();
      if (!std::isfinite(thread.ratios[r]) && !forbidden) {
        throw DataError(
            "log p of a state on the way to the model is not finite: the base gives states that "
            "the model does not allow");
      }
      out.log_weights[tile.first_slot + r] += (betas[k + 1] - betas[k]) * thread.ratios[r];
    }
    storage.change_beta(betas[k + 1], thread.ratios);
    if (k + 2 == betas.size() && schedule.stop_short) break;
    make_ready(sampler, storage.target(), tile, work);
    if (tile.sampler_cache)
      sampler.start(storage.target(), tile, work);  // its values depend on beta
    for (int s = 0; s < schedule.steps_per_beta; ++s) {
      work.want_logp = s + 1 == schedule.steps_per_beta;
      sampler.step(storage.target(), tile, work, info);
      for (std::size_t r = 0; r < info.size(); ++r) {
        out.acceptance[tile.first_slot + r] += info[r].acceptance;
      }
      if (schedule.observer) {
        const auto before =
            static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(schedule.steps_per_beta);
        schedule.observer->after_step(tile, info, before + static_cast<std::uint64_t>(s));
      }
    }
  }
}

void Ensemble::anneal(const Sampler& sampler, const Schedule& schedule, const Annealed& out) {
  for (const auto& group : groups_) {
    Group& g = *group;
    if (!g.law.base || g.law.beta != schedule.betas.front()) {
      throw UsageError("chains are annealed from where they are: they need a base, and its beta");
    }
    g.law.beta = schedule.betas.back();
    g.cache_owner.clear();
    if (!schedule.observer && on_device(g) && g.device->serves(sampler, g.law.base.get())) {
      if (!g.device_ready) evaluate_on_device(g);
      g.states_here = false;
      g.accumulates_rounding = false;
      const auto first = index(g.first_slot), count = index(g.law.chains);
      g.device->anneal(
          sampler, step_,
          {g.law.base.get(), schedule.betas, schedule.steps_per_beta, schedule.stop_short},
          {out.log_weights.subspan(first, count), out.acceptance.subspan(first, count)});
    } else {
      leave_device(g);
      start_cache(g, sampler);
      g.accumulates_rounding = true;
    }
  }
  for_tiles([&](Storage& storage, ThreadWorkspace& thread) {
    if (groups_[index(storage.group)]->states_here) {
      anneal_tile(storage, thread, sampler, schedule, out);
    } else {
      storage.tempered->set_beta(schedule.betas.back());
    }
  });
  const std::size_t moves = schedule.betas.size() - 1 - schedule.stop_short;
  step_ += moves * static_cast<std::uint64_t>(schedule.steps_per_beta);
  for (const auto& group : groups_) {
    if (!group->states_here) forget_values(*group);
  }
}

}  // namespace saltus
