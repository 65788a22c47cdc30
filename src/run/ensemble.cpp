#include "saltus/run/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "run/ensemble_parts.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

int tile_size_of(const ChainGroup& group, int wanted) {
  return std::clamp(wanted > 0 ? wanted : group.target->preferred_tile(), 1,
                    std::max(1, group.chains));
}

int tiles_of(const std::vector<ChainGroup>& groups, int wanted) {
  int count = 0;
  for (const ChainGroup& g : groups) {
    const int size = tile_size_of(g, wanted);
    count += (g.chains + size - 1) / size;
  }
  return count;
}

// Unbounded integers start below this.
constexpr int kStartLevels = 10;
// Random numbers of a start that had to be changed: far from those of its draw.
constexpr std::uint64_t kRepairStep = std::uint64_t{1} << 48;

// The level of all coordinates at the start of a chain; nothing where it starts at random.
std::optional<int> start_level(const Domain& domain, std::uint32_t chain) {
  const std::uint32_t turn = chain % 4, highest = turn == 1;
  const bool in_turns = domain.kind() == Domain::Kind::categorical && domain.max_levels() > 2;
  if (turn >= (in_turns ? 3 : 2)) return std::nullopt;
  if (!in_turns) return highest ? std::numeric_limits<int>::max() : 0;
  return static_cast<int>(chain / 4 * 3 + turn) % domain.max_levels();
}

}  // namespace

void allow(const ForbiddenStates& forbidden, std::uint64_t seed, std::uint32_t chain, Symbol* x) {
  if (forbidden.make_allowed(Stream(seed, chain, kRepairStep, Purpose::start), x)) return;
  throw StartError("no state of positive probability was found for chain " + std::to_string(chain) +
                   "; start from states that the model allows");
}

Ensemble::Ensemble(std::vector<ChainGroup> groups, const EnsemblePlan& plan)
    : seed_(plan.seed), pool_(useful_threads(plan.threads, tiles_of(groups, plan.tile))) {
  for (const ChainGroup& law : groups) {
    if (law.chains < 1) throw UsageError("a run needs at least one chain");
    if (law.target->domain().dim() != groups.front().target->domain().dim()) {
      throw UsageError("groups of chains have states of different length");
    }
    Group& group = *groups_.emplace_back(std::make_unique<Group>());
    group.law = law;
    make_tiles(group, chains_, plan);
    chains_ += law.chains;
  }
  count_chains_from(plan.first_chain);
}

Ensemble::~Ensemble() = default;

void Ensemble::make_tiles(Group& group, int first_slot, const EnsemblePlan& plan) {
  const int size = tile_size_of(group.law, plan.tile), chains = group.law.chains;
  group.first_slot = first_slot;
  group.tile_size = size;
  group.first_tile = tiles_.size();
  for (int first = 0; first < chains; first += size) {
    Storage& storage = *tiles_.emplace_back(std::make_unique<Storage>(group.law, size));
    storage.group = static_cast<int>(groups_.size()) - 1;
    Tile& tile = storage.tile;
    tile.x.rows = tile.score.rows = tile.target_cache.rows = std::min(size, chains - first);
    tile.first_slot = static_cast<std::uint32_t>(first_slot + first);
  }
  group.tiles = tiles_.size() - group.first_tile;
  for (int t = 0; t < pool_.threads(); ++t) {
    group.threads.push_back(std::make_unique<ThreadWorkspace>(group.law, size, seed_));
  }
  const OnDevice* device = group.target().on_device();
  if (device) group.device = device->make_chains(chains, seed_);
}

int Ensemble::tile_size() const {
  return groups_.front()->tile_size;
}

Ensemble::Group& Ensemble::group_of(int slot) const {
  for (const auto& group : groups_) {
    if (slot < group->first_slot + group->law.chains) return *group;
  }
  throw UsageError("there is no chain at place " + std::to_string(slot));
}

Symbol* Ensemble::row(int slot) const {
  const Group& group = group_of(slot);
  const int within = slot - group.first_slot;
  return tiles_[group.first_tile + index(within / group.tile_size)]
      ->tile.x[within % group.tile_size];
}

const Symbol* Ensemble::state(int slot) const {
  fetch_states(group_of(slot));
  return row(slot);
}

void Ensemble::start_random() {
  for (const auto& group : groups_) group->states_here = true, group->device_ready = false;
  for (const auto& storage : tiles_) {
    const Domain& domain = storage->model->domain();
    const ForbiddenStates* forbidden = storage->model->forbidden_states();
    Tile& tile = storage->tile;
    for (int r = 0; r < tile.rows(); ++r) {
      const std::uint32_t chain = tile.first_chain + static_cast<std::uint32_t>(r);
      const Stream stream(seed_, chain, 0, Purpose::start);
      if (const Constraint* constraint = storage->model->constraint()) {
        constraint->draw(stream, tile.x[r]);
        if (forbidden) allow(*forbidden, seed_, chain, tile.x[r]);
        continue;
      }
      for (int i = 0; i < domain.dim(); ++i) {
        const std::uint64_t levels = domain.unbounded() ? static_cast<unsigned>(kStartLevels)
                                                        : static_cast<unsigned>(domain.levels(i));
        tile.x[r][i] =
            static_cast<Symbol>(stream.word(static_cast<std::uint32_t>(i)) * levels >> 32);
      }
      if (forbidden) allow(*forbidden, seed_, chain, tile.x[r]);
    }
  }
}

void Ensemble::start_dispersed() {
  start_random();
  for_tiles([](Storage& storage, ThreadWorkspace& thread) {
    const Target& model = *storage.model;
    if (model.constraint()) return;  // which one level of all coordinates would break
    const Domain& domain = model.domain();
    Tile& tile = storage.tile;
    std::vector<Symbol> at_random(index(domain.dim()));
    for (int r = 0; r < tile.rows(); ++r) {
      const auto level = start_level(domain, tile.first_chain + static_cast<std::uint32_t>(r));
      if (!level) continue;
      const Rows<Symbol> row{tile.x[r], 1, tile.x.cols, tile.x.stride};
      std::copy_n(row[0], domain.dim(), at_random.begin());
      for (int i = 0; i < domain.dim(); ++i) {
        const int levels = domain.unbounded() ? kStartLevels : domain.levels(i);
        row[0][i] = static_cast<Symbol>(std::min(*level, levels - 1));
      }
      double logp = 0;
      model.evaluate(thread.work.at(0), row, &logp, {});
      if (!std::isfinite(logp)) std::copy(at_random.begin(), at_random.end(), row[0]);
    }
  });
}

void Ensemble::start_from_base() {
  for (const auto& group : groups_) {
    if (!group->law.base) throw UsageError("chains without a base cannot start from it");
  }
  const RowBuffer<Symbol> states(chains_, groups_.front()->target().domain().dim());
  for (const auto& storage : tiles_) {
    const Tile& tile = storage->tile;
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(tile.rows()); ++r) {
      const Stream stream(seed_, tile.first_chain + r, 0, Purpose::start);
      groups_[index(storage->group)]->law.base->draw(
          stream, states.view()[static_cast<int>(tile.first_slot + r)]);
    }
  }
  start_from(states.view());
}

void Ensemble::start_from(Rows<const Symbol> states, std::uint64_t step) {
  set_states(states);
  step_ = step;
  for (const auto& storage : tiles_) storage->tile.step = step;
  for (const auto& group : groups_) {
    group->cache_owner.clear();
    group->accumulates_rounding = false;
    forget_values(*group);
  }
}

void Ensemble::set_states(Rows<const Symbol> states) {
  const Domain& domain = groups_.front()->target().domain();
  if (states.rows != chains_ || states.cols != domain.dim()) {
    throw DataError("starting states come as " + std::to_string(states.rows) + " rows of " +
                    std::to_string(states.cols) + ", but the run has " + std::to_string(chains_) +
                    " chains of " + std::to_string(domain.dim()) + " coordinates");
  }
  for (int slot = 0; slot < chains_; ++slot) {
    for (int i = 0; i < domain.dim(); ++i) {
      if (states[slot][i] >= domain.levels(i)) {
        throw DataError("the starting state of chain " + std::to_string(slot) + " has level " +
                        std::to_string(states[slot][i]) + " at coordinate " + std::to_string(i) +
                        ", which has " + std::to_string(domain.levels(i)) + " levels");
      }
    }
    const Constraint* constraint = group_of(slot).law.target->constraint();
    if (constraint && !constraint->allows(states[slot])) {
      throw DataError("the starting state of chain " + std::to_string(slot) + " " +
                      constraint->violation(states[slot]) + " (constraint " + constraint->text() +
                      ")");
    }
    std::copy_n(states[slot], domain.dim(), row(slot));
  }
  for (const auto& group : groups_) group->states_here = true, group->device_ready = false;
}

void Ensemble::count_chains_from(std::uint32_t first) {
  for (const auto& group : groups_) {
    const auto place = static_cast<std::uint32_t>(group->first_slot);
    const std::uint32_t name = group->law.first_chain.value_or(first + place);
    for (std::size_t t = group->first_tile; t < group->first_tile + group->tiles; ++t) {
      tiles_[t]->tile.first_chain = name + tiles_[t]->tile.first_slot - place;
    }
    if (group->device) group->device->count_chains_from(name);
  }
}

void Ensemble::check_finite(const Tile& tile, int r, double logp) const {
  if (std::isfinite(logp)) return;
  throw StartError("log p of the state of chain " +
                   std::to_string(tile.first_chain + static_cast<std::uint32_t>(r)) +
                   " is not finite; start from states that the model allows");
}

void Ensemble::evaluate() {
  for (const auto& group : groups_) {
    on_device(*group) ? evaluate_on_device(*group) : leave_device(*group);
  }
  for_tiles([&](Storage& storage, ThreadWorkspace& thread) {
    if (on_device(*groups_[index(storage.group)])) return;
    Tile& tile = storage.tile;
    tile.step = step_;
    storage.target().evaluate_and_cache(thread.work.at(step_), tile.x, tile.logp, tile.score,
                                        tile.target_cache);
    tile.logp_current = tile.score_current = tile.target_cache_current = true;
  });
  for (const auto& storage : tiles_) {
    if (!storage->tile.logp_current) continue;  // checked on the device
    for (int r = 0; r < storage->tile.rows(); ++r) {
      check_finite(storage->tile, r, storage->tile.logp[r]);
    }
  }
}

void Ensemble::forget_values(Group& group) {
  for (std::size_t t = group.first_tile; t < group.first_tile + group.tiles; ++t) {
    Tile& tile = tiles_[t]->tile;
    tile.step = step_;
    tile.logp_current = tile.score_current = tile.target_cache_current = false;
  }
}

void Ensemble::advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer) {
  const std::vector<const Sampler*> same(groups_.size(), &sampler);
  advance(same, steps, observer);
}

// Room for what the sampler keeps per chain.
void Ensemble::start_cache(Group& group, const Sampler& sampler) {
  const auto first = tiles_.begin() + static_cast<std::ptrdiff_t>(group.first_tile);
  for (auto t = first; t != first + static_cast<std::ptrdiff_t>(group.tiles); ++t) {
    (*t)->make_sampler_cache(sampler.cache_size((*t)->target()));
  }
}

void Ensemble::advance(std::span<const Sampler* const> samplers, std::uint64_t steps,
                       StepObserver& observer) {
  std::vector<char> here(groups_.size()), start(groups_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = *groups_[g];
    if (device_serves(group, *samplers[g])) {
      advance_on_device(group, *samplers[g], steps, observer);
      continue;
    }
    leave_device(group);
    here[g] = 1;
    start[g] = group.cache_owner != samplers[g]->cache_key();
    if (start[g]) start_cache(group, *samplers[g]);
  }
  for_tiles([&](Storage& storage, ThreadWorkspace& thread) {
    const std::size_t g = index(storage.group);
    if (!here[g]) return;
    Tile& tile = storage.tile;
    const std::span info(thread.info.data(), index(tile.rows()));
    const Target& target = storage.target();
    make_ready(*samplers[g], target, tile, thread.work);
    if (start[g]) samplers[g]->start(target, tile, thread.work);
    for (std::uint64_t k = 0; k < steps; ++k) {
      thread.work.want_logp = observer.wants_logp(k);
      samplers[g]->step(target, tile, thread.work, info);
      observer.after_step(tile, info, k);
    }
  });
  step_ += steps;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = *groups_[g];
    if (!here[g]) {
      forget_values(group);
      continue;
    }
    const Target& target = tiles_[group.first_tile]->target();
    group.cache_owner = samplers[g]->cache_key();
    group.accumulates_rounding = samplers[g]->accumulates_rounding(target) ||
                                 samplers[g]->cache_size(target) > 0 || group.law.base;
  }
}

Evaluations Ensemble::evaluations() const {
  Evaluations total;
  const auto add = [&](const Evaluations& e) {
    total.logp += e.logp;
    total.gradient += e.gradient;
    total.local += e.local;
  };
  for (const auto& group : groups_) {
    for (const auto& thread : group->threads) add(thread->work.evaluations);
    if (group->device) add(group->device->evaluations());
  }
  return total;
}

void Ensemble::reset_evaluations() {
  for (const auto& group : groups_) {
    if (group->device) group->device->reset_evaluations();
    for (const auto& thread : group->threads) thread->work.evaluations = {};
  }
}

}  // namespace saltus
