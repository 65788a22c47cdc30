#include "saltus/run/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

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

}  // namespace

// What a Tile points into. All tiles of a group have the same layout: a sampler may swap their
// memory with that of proposals.
struct Ensemble::Storage {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, kept, own;
  std::vector<double> logp;
  Tile tile;
  int group = 0;
  const Target* model;
  std::optional<Tempered> tempered;  // at this tile's beta, for a group with a base

  Storage(const ChainGroup& g, int rows)
      : x(rows, g.target->domain().dim()),
        score(rows, g.target->domain().score_size()),
        logp(at(rows)),
        model(g.target) {
    if (g.base) tempered.emplace(*g.target, g.base).set_beta(g.beta);
    if (const int size = target().kept_size(); size > 0) kept = RowBuffer<float>(rows, size);
    tile.x = x.view(), tile.score = score.view(), tile.kept = kept.view();
    tile.logp = logp.data();
  }

  const Target& target() const { return tempered ? *tempered : *model; }

  void make_own(int size) {
    own = size > 0 ? RowBuffer<float>(x.view().rows, size) : RowBuffer<float>();
    tile.own = own.view();
    tile.own.rows = tile.x.rows;
  }

  // The score follows from the model's own, log p from `ratios`, log p - log p_0 of the model.
  void change_beta(double beta, std::span<const double> ratios) {
    tempered->set_beta(beta);
    for (int r = 0; r < tile.rows(); ++r) {
      tile.logp[r] = tempered->base().log_probability(tile.x[r]) + beta * ratios[at(r)];
    }
    tile.logp_current = true;
    tile.score_current &= tile.kept_current;
    if (tile.score_current) tempered->mix_score(tile.x, tile.kept, tile.score);
  }
};

struct Ensemble::ThreadWorkspace {
  Storage proposal;
  Workspace work;
  std::vector<StepInfo> info;
  std::vector<double> ratios;

  ThreadWorkspace(const ChainGroup& group, int rows, std::uint64_t seed)
      : proposal(group, rows), info(at(rows)), ratios(at(rows)) {
    work.proposal = proposal.tile;
    work.seed = seed;
  }
};

struct Ensemble::Group {
  ChainGroup law;
  int first_slot, tile_size;
  std::size_t first_tile, tiles = 0;
  std::vector<std::unique_ptr<ThreadWorkspace>> threads;
  std::string cache_owner;            // the sampler that the tiles' own values belong to
  bool accumulates_rounding = false;  // values in tiles could not be computed from the states again
  std::unique_ptr<DeviceChains> device;
  // The newest states are here; they are on the device, with what goes with them. One always is.
  mutable bool states_here = true;
  bool device_ready = false;

  const Target& target() const { return *law.target; }
};

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
    tile.x.rows = tile.score.rows = tile.kept.rows = std::min(size, chains - first);
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
  return tiles_[group.first_tile + at(within / group.tile_size)]->tile.x[within % group.tile_size];
}

void Ensemble::fetch_states(const Group& group) const {
  if (group.states_here) return;
  const RowBuffer<Symbol> states(group.law.chains, group.target().domain().dim());
  group.device->get_states(states.view());
  for (int c = 0; c < group.law.chains; ++c) {
    std::copy_n(states.view()[c], states.view().cols, row(group.first_slot + c));
  }
  group.states_here = true;
}

const Symbol* Ensemble::state(int slot) const {
  fetch_states(group_of(slot));
  return row(slot);
}

void Ensemble::start_random() {
  for (const auto& group : groups_) group->states_here = true, group->device_ready = false;
  for (const auto& storage : tiles_) {
    const Domain& domain = storage->model->domain();
    Tile& tile = storage->tile;
    for (int r = 0; r < tile.rows(); ++r) {
      const Stream stream(seed_, tile.first_chain + static_cast<std::uint32_t>(r), 0,
                          Purpose::start);
      for (int i = 0; i < domain.dim(); ++i) {
        const std::uint64_t levels =
            domain.unbounded() ? 10u : static_cast<unsigned>(domain.levels(i));
        tile.x[r][i] =
            static_cast<Symbol>(stream.word(static_cast<std::uint32_t>(i)) * levels >> 32);
      }
    }
  }
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
      groups_[at(storage->group)]->law.base->draw(
          stream, states.view()[static_cast<int>(tile.first_slot + r)]);
    }
  }
  start_from(states.view());
}

void Ensemble::start_from(Rows<const Symbol> states, std::uint64_t step) {
  set_states(states);
  step_ = step;
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
    std::copy_n(states[slot], domain.dim(), row(slot));
  }
  for (const auto& group : groups_) group->states_here = true, group->device_ready = false;
}

void Ensemble::count_chains_from(std::uint32_t first) {
  for (const auto& storage : tiles_) {
    storage->tile.first_chain = first + storage->tile.first_slot;
  }
  for (const auto& group : groups_) {
    const auto place = static_cast<std::uint32_t>(group->first_slot);
    if (group->device) group->device->count_chains_from(first + place);
  }
}

double Ensemble::beta(int group) const {
  return groups_[at(group)]->law.beta;
}

void Ensemble::set_beta(int group, double beta) {
  Group& g = *groups_[at(group)];
  if (!g.law.base) throw UsageError("chains without a base stay at beta = 1");
  leave_device(g);
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

void Ensemble::check_finite(const Tile& tile, int r, double logp) const {
  if (std::isfinite(logp)) return;
  throw StartError("log p of the state of chain " +
                   std::to_string(tile.first_chain + static_cast<std::uint32_t>(r)) +
                   " is not finite; start from states that the model allows");
}

// work(tile, what the thread lends to it), for all tiles.
template <class Work>
void Ensemble::for_tiles(const Work& work) {
  const ops::OneBlasThread one_thread;
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int thread) {
    Storage& storage = *tiles_[at(t)];
    work(storage, *groups_[at(storage.group)]->threads[at(thread)]);
  });
}

void Ensemble::evaluate() {
  for (const auto& group : groups_) {
    on_device(*group) ? evaluate_on_device(*group) : leave_device(*group);
  }
  for_tiles([&](Storage& storage, ThreadWorkspace& thread) {
    if (on_device(*groups_[at(storage.group)])) return;
    Tile& tile = storage.tile;
    tile.step = step_;
    storage.target().evaluate_kept(thread.work.at(step_), tile.x, tile.logp, tile.score, tile.kept);
    tile.logp_current = tile.score_current = tile.kept_current = true;
  });
  for (const auto& storage : tiles_) {
    if (!storage->tile.logp_current) continue;  // checked on the device
    for (int r = 0; r < storage->tile.rows(); ++r) {
      check_finite(storage->tile, r, storage->tile.logp[r]);
    }
  }
}

// The device keeps the model's own values: its chains may be at any beta.
bool Ensemble::on_device(const Group& group) const {
  return group.device && group.target().on_device();
}

bool Ensemble::device_serves(const Group& group, const Sampler& sampler) const {
  return on_device(group) && group.law.beta == 1 && group.device->serves(sampler);
}

// Values computed here, if any, are then taken to be out of date.
void Ensemble::evaluate_on_device(Group& group) {
  const int chains = group.law.chains;
  if (!group.device_ready) {
    const RowBuffer<Symbol> states(chains, group.target().domain().dim());
    for (int c = 0; c < chains; ++c) {
      std::copy_n(row(group.first_slot + c), states.view().cols, states.view()[c]);
    }
    group.device->put_states(states.view());
  }
  std::vector<double> logp(at(chains));
  group.device->evaluate(step_, logp);
  const Tile& first = tiles_[group.first_tile]->tile;
  for (int c = 0; c < chains; ++c) check_finite(first, c, logp[at(c)]);
  group.device_ready = true;
  forget_values(group);
}

void Ensemble::forget_values(Group& group) {
  for (std::size_t t = group.first_tile; t < group.first_tile + group.tiles; ++t) {
    Tile& tile = tiles_[t]->tile;
    tile.step = step_;
    tile.logp_current = tile.score_current = tile.kept_current = false;
  }
}

namespace {

// Passes steps on with the places of a group that is not the first.
class Shifted final : public StepObserver {
 public:
  Shifted(StepObserver& to, int by) : to_(to), by_(static_cast<std::uint32_t>(by)) {}
  bool wants_logp(std::uint64_t step) const override { return to_.wants_logp(step); }
  bool wants_states(std::uint64_t step) const override { return to_.wants_states(step); }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    Tile moved = tile;
    moved.first_slot += by_;
    to_.after_step(moved, info, step);
  }

 private:
  StepObserver& to_;
  std::uint32_t by_;
};

}  // namespace

// After steps there, states are all that counts: what goes with them is computed from them.
void Ensemble::advance_on_device(Group& group, const Sampler& sampler, std::uint64_t steps,
                                 StepObserver& observer) {
  if (!group.device_ready) evaluate_on_device(group);
  group.states_here = false;
  group.cache_owner.clear();
  group.accumulates_rounding = false;
  Shifted shifted(observer, group.first_slot);
  group.device->advance(sampler, step_, steps, shifted);
}

// Before steps here, which leave the device behind.
void Ensemble::leave_device(Group& group) {
  fetch_states(group);
  group.device_ready = false;
}

void Ensemble::advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer) {
  const std::vector<const Sampler*> same(groups_.size(), &sampler);
  advance(same, steps, observer);
}

// Room for what the sampler keeps per chain.
void Ensemble::start_cache(Group& group, const Sampler& sampler) {
  const auto first = tiles_.begin() + static_cast<std::ptrdiff_t>(group.first_tile);
  for (auto t = first; t != first + static_cast<std::ptrdiff_t>(group.tiles); ++t) {
    (*t)->make_own(sampler.own_size((*t)->target()));
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
    start[g] = group.cache_owner != samplers[g]->own_key();
    if (start[g]) start_cache(group, *samplers[g]);
  }
  for_tiles([&](Storage& storage, ThreadWorkspace& thread) {
    const std::size_t g = at(storage.group);
    if (!here[g]) return;
    Tile& tile = storage.tile;
    const std::span info(thread.info.data(), at(tile.rows()));
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
    group.cache_owner = samplers[g]->own_key();
    group.accumulates_rounding =
        samplers[g]->carries(target) || samplers[g]->own_size(target) > 0 || group.law.base;
  }
}

// log p - log p_0 of the model; where beta is 0, log p is evaluated.
void Ensemble::log_ratios(Storage& storage, Workspace& work, std::span<double> out) const {
  Tile& tile = storage.tile;
  const Tempered& law = *storage.tempered;
  if (law.beta() == 0) {
    storage.model->evaluate(work.at(tile.step), tile.x, out.data(), {});
    for (int r = 0; r < tile.rows(); ++r) {
      out[at(r)] -= law.base().log_probability(tile.x[r]);
    }
    return;
  }
  if (!tile.logp_current) {
    law.evaluate(work.at(tile.step), tile.x, tile.logp, {});
    tile.logp_current = true;
  }
  for (int r = 0; r < tile.rows(); ++r) out[at(r)] = law.log_ratio(tile.x[r], tile.logp[r]);
}

void Ensemble::anneal_tile(Storage& storage, ThreadWorkspace& thread, const Sampler& sampler,
                           const Schedule& schedule, const Annealed& out) const {
  Tile& tile = storage.tile;
  Workspace& work = thread.work;
  const std::span<const double> betas = schedule.betas;
  const std::span info(thread.info.data(), at(tile.rows()));
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    log_ratios(storage, work, thread.ratios);
    for (std::size_t r = 0; r < info.size(); ++r) {
      if (!std::isfinite(thread.ratios[r])) {
        throw DataError(
            "log p of a state on the way to the model is not finite: the base gives states that "
            "the model does not allow");
      }
      out.log_weights[tile.first_slot + r] += (betas[k + 1] - betas[k]) * thread.ratios[r];
    }
    storage.change_beta(betas[k + 1], thread.ratios);
    if (k + 2 == betas.size() && schedule.stop_short) break;
    make_ready(sampler, storage.target(), tile, work);
    if (tile.own) sampler.start(storage.target(), tile, work);  // its values depend on beta
    for (int s = 0; s < schedule.steps_per_beta; ++s) {
      work.want_logp = s + 1 == schedule.steps_per_beta;
      sampler.step(storage.target(), tile, work, info);
      for (std::size_t r = 0; r < info.size(); ++r) {
        out.acceptance[tile.first_slot + r] += info[r].acceptance;
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
    if (on_device(g) && g.device->serves(sampler)) {
      if (!g.device_ready) evaluate_on_device(g);
      g.states_here = false;
      g.accumulates_rounding = false;
      const auto first = at(g.first_slot), count = at(g.law.chains);
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
    if (groups_[at(storage.group)]->states_here) {
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

// States alone, unless values that go with them could not be computed from them again.
void Ensemble::save(ByteWriter& out) const {
  out.put(step_);
  const auto dim = at(groups_.front()->target().domain().dim());
  for (int slot = 0; slot < chains_; ++slot) out.put_array(std::span(state(slot), dim));
  for (const auto& group : groups_) out.put(group->law.beta);
  for (const auto& group : groups_) {
    out.put(static_cast<std::uint8_t>(group->accumulates_rounding));
    if (!group->accumulates_rounding) continue;
    out.put_array(std::span<const char>(group->cache_owner));
    for (std::size_t t = group->first_tile; t < group->first_tile + group->tiles; ++t) {
      const Tile& tile = tiles_[t]->tile;
      out.put(static_cast<std::uint8_t>(tile.logp_current | tile.score_current << 1 |
                                        tile.kept_current << 2 | static_cast<bool>(tile.own) << 3));
      for (const Rows<float>& rows : {tile.own, tile.score, tile.kept}) {
        for (int r = 0; rows && r < tile.rows(); ++r) {
          out.put_array(std::span<const float>(rows.row(r)));
        }
      }
      out.put_array(std::span<const double>(tile.logp, at(tile.rows())));
    }
  }
}

void Ensemble::restore(ByteReader& in) {
  step_ = in.get<std::uint64_t>();
  const int dim = groups_.front()->target().domain().dim();
  RowBuffer<Symbol> states(chains_, dim);
  for (int slot = 0; slot < chains_; ++slot) in.get_array(std::span(states.view()[slot], at(dim)));
  set_states(states.view());
  for (const auto& group : groups_) group->law.beta = in.get<double>();
  for (const auto& storage : tiles_) {
    if (storage->tempered) storage->tempered->set_beta(beta(storage->group));
  }
  evaluate();
  for (const auto& group : groups_) {
    group->cache_owner.clear();
    group->accumulates_rounding = in.get<std::uint8_t>() != 0;
    if (!group->accumulates_rounding) continue;
    const std::size_t length = in.next_array_length(sizeof(char));
    if (length > 64) throw DataError("a sampler's key is too long");
    group->cache_owner.assign(length, ' ');
    in.get_array(std::span<char>(group->cache_owner));
    const auto first = tiles_.begin() + static_cast<std::ptrdiff_t>(group->first_tile);
    for (auto t = first; t != first + static_cast<std::ptrdiff_t>(group->tiles); ++t) {
      Tile& tile = (*t)->tile;
      const auto flags = in.get<std::uint8_t>();
      tile.logp_current = flags & 1, tile.score_current = flags & 2, tile.kept_current = flags & 4;
      if (flags & 8) (*t)->make_own(static_cast<int>(in.next_array_length(sizeof(float))));
      for (const Rows<float>& rows : {tile.own, tile.score, tile.kept}) {
        for (int r = 0; rows && r < tile.rows(); ++r) in.get_array(rows.row(r));
      }
      in.get_array(std::span(tile.logp, at(tile.rows())));
    }
  }
}

}  // namespace saltus
