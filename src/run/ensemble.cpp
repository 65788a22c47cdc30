#include "saltus/run/ensemble.hpp"

#include <algorithm>
#include <cmath>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
Ensemble::Storage::Storage(const Target& target, int rows)
    : x(rows, target.domain().dim()),
      score(rows, target.domain().score_size()),
      logp(static_cast<std::size_t>(rows)) {
  if (target.kept_size() > 0) kept = RowBuffer<float>(rows, target.kept_size());
  tile.x = x.view();
  tile.score = score.view();
  tile.kept = kept.view();
  tile.logp = logp.data();
}

void Ensemble::Storage::make_own(int size) {
  own = size > 0 ? RowBuffer<float>(x.view().rows, size) : RowBuffer<float>();
  tile.own = own.view();
  tile.own.rows = tile.x.rows;
}

Ensemble::Ensemble(const Target& target, int chains, int tile, int threads, std::uint64_t seed)
    : target_(target),
      chains_(chains),
      tile_size_(std::min(chains, tile > 0 ? tile : target.preferred_tile())),
      seed_(seed),
      pool_(useful_threads(threads, (chains + tile_size_ - 1) / std::max(1, tile_size_))) {
  if (chains < 1) throw UsageError("a run needs at least one chain");
  for (int first = 0; first < chains; first += tile_size_) {
    auto& storage = tiles_.emplace_back(std::make_unique<Storage>(target, tile_size_));
    Tile& made = storage->tile;
    made.x.rows = made.score.rows = made.kept.rows = std::min(tile_size_, chains - first);
    storage->tile.first_chain = static_cast<std::uint32_t>(first);
  }
  for (int t = 0; t < pool_.threads(); ++t) {
    auto& thread = threads_.emplace_back(
        new Thread{Storage(target, tile_size_),
                   {},
                   std::vector<StepInfo>(static_cast<std::size_t>(tile_size_))});
    thread->work.proposal = thread->proposal.tile;
    thread->work.seed = seed;
  }
  if (const OnDevice* device = target.on_device()) device_ = device->make_chains(chains, seed);
}

Symbol* Ensemble::row(int chain) const {
  return tiles_[static_cast<std::size_t>(chain / tile_size_)]->tile.x[chain % tile_size_];
}

const Symbol* Ensemble::state(int chain) const {
  if (!states_here_) {
    const RowBuffer<Symbol> states(chains_, target_.domain().dim());
    device_->get_states(states.view());
    for (int c = 0; c < chains_; ++c) std::copy_n(states.view()[c], states.view().cols, row(c));
    states_here_ = true;
  }
  return row(chain);
}

void Ensemble::start_random() {
  states_here_ = true, device_ready_ = false;
  const Domain& domain = target_.domain();
  for (const auto& storage : tiles_) {
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

void Ensemble::start_from(Rows<const Symbol> states, std::uint64_t step) {
  set_states(states);
  step_ = step;
  owner_.clear();
  carried_ = false;
  for (const auto& storage : tiles_) {
    Tile& tile = storage->tile;
    tile.step = step;
    tile.logp_current = tile.score_current = tile.kept_current = false;
  }
}

void Ensemble::set_states(Rows<const Symbol> states) {
  const Domain& domain = target_.domain();
  if (states.rows != chains_ || states.cols != domain.dim()) {
    throw DataError("starting states come as " + std::to_string(states.rows) + " rows of " +
                    std::to_string(states.cols) + ", but the run has " + std::to_string(chains_) +
                    " chains of " + std::to_string(domain.dim()) + " coordinates");
  }
  for (int chain = 0; chain < chains_; ++chain) {
    for (int i = 0; i < domain.dim(); ++i) {
      if (states[chain][i] >= domain.levels(i)) {
        throw DataError("the starting state of chain " + std::to_string(chain) + " has level " +
                        std::to_string(states[chain][i]) + " at coordinate " + std::to_string(i) +
                        ", which has " + std::to_string(domain.levels(i)) + " levels");
      }
    }
    std::copy_n(states[chain], domain.dim(), row(chain));
  }
  states_here_ = true, device_ready_ = false;
}

void Ensemble::count_chains_from(std::uint32_t first) {
  if (device_) device_->count_chains_from(first);
  for (const auto& storage : tiles_) {
    storage->tile.first_chain = first;
    first += static_cast<std::uint32_t>(storage->tile.rows());
  }
}

void Ensemble::check_finite(int chain, double logp) const {
  if (std::isfinite(logp)) return;
  throw DataError(
      "log p of the state of chain " +
      std::to_string(tiles_.front()->tile.first_chain + static_cast<std::uint32_t>(chain)) +
      " is not finite; start from states that the model allows (saltus sample --init FILE)");
}

void Ensemble::evaluate() {
  if (on_device()) return evaluate_on_device();
  leave_device();
  const ops::OneBlasThread one_thread;
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int thread) {
    Tile& tile = tiles_[static_cast<std::size_t>(t)]->tile;
    tile.step = step_;
    Workspace& work = threads_[static_cast<std::size_t>(thread)]->work;
    target_.evaluate_kept(work.at(step_), tile.x, tile.logp, tile.score, tile.kept);
    tile.logp_current = tile.score_current = tile.kept_current = true;
  });
  int chain = 0;
  for (const auto& storage : tiles_) {
    for (int r = 0; r < storage->tile.rows(); ++r) check_finite(chain++, storage->tile.logp[r]);
  }
}

// Values computed here, if any, are then taken to be out of date.
void Ensemble::evaluate_on_device() {
  if (!device_ready_) {
    const RowBuffer<Symbol> states(chains_, target_.domain().dim());
    for (int c = 0; c < chains_; ++c) std::copy_n(row(c), states.view().cols, states.view()[c]);
    device_->put_states(states.view());
  }
  std::vector<double> logp(static_cast<std::size_t>(chains_));
  device_->evaluate(step_, logp);
  for (int c = 0; c < chains_; ++c) check_finite(c, logp[static_cast<std::size_t>(c)]);
  device_ready_ = true;
  forget_values();
}

void Ensemble::forget_values() {
  for (const auto& storage : tiles_) {
    Tile& tile = storage->tile;
    tile.step = step_;
    tile.logp_current = tile.score_current = tile.kept_current = false;
  }
}

// Evaluates what the sampler needs and an earlier one left behind.
void Ensemble::make_ready(const Sampler& sampler, Tile& tile, Workspace& work) const {
  const Sampler::Needs needs = sampler.needs(target_);
  const bool logp = needs.logp && !tile.logp_current, score = needs.score && !tile.score_current,
             kept = needs.kept && !tile.kept_current;
  if (!logp && !score && !kept) return;
  target_.evaluate_kept(work.at(tile.step), tile.x, logp ? tile.logp : nullptr,
                        score ? tile.score : Rows<float>{}, kept ? tile.kept : Rows<float>{});
  tile.logp_current |= logp;
  tile.score_current |= score;
  tile.kept_current |= kept;
}

// After steps there, states are all that counts: what goes with them is computed from them.
void Ensemble::advance_on_device(const Sampler& sampler, std::uint64_t steps,
                                 StepObserver& observer) {
  if (!device_ready_) evaluate_on_device();
  states_here_ = false;
  owner_.clear();
  carried_ = false;
  device_->advance(sampler, step_, steps, observer);
  step_ += steps;
  forget_values();
}

// Before steps here, which leave the device behind.
void Ensemble::leave_device() {
  state(0);
  device_ready_ = false;
}

void Ensemble::advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer) {
  if (on_device() && device_->serves(sampler)) return advance_on_device(sampler, steps, observer);
  leave_device();
  const ops::OneBlasThread one_thread;
  const bool new_owner = owner_ != sampler.own_key();
  if (new_owner) {
    for (const auto& storage : tiles_) storage->make_own(sampler.own_size(target_));
  }
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int number) {
    Tile& tile = tiles_[static_cast<std::size_t>(t)]->tile;
    Thread& thread = *threads_[static_cast<std::size_t>(number)];
    const std::span info(thread.info.data(), static_cast<std::size_t>(tile.rows()));
    make_ready(sampler, tile, thread.work);
    if (new_owner) sampler.start(target_, tile, thread.work);
    for (std::uint64_t k = 0; k < steps; ++k) {
      thread.work.want_logp = observer.wants_logp(k);
      sampler.step(target_, tile, thread.work, info);
      observer.after_step(tile, info, k);
    }
  });
  owner_ = sampler.own_key();
  carried_ = sampler.carries(target_) || sampler.own_size(target_) > 0;
  step_ += steps;
}

Evaluations Ensemble::evaluations() const {
  Evaluations total;
  for (const auto& thread : threads_) {
    total.logp += thread->work.evaluations.logp;
    total.gradient += thread->work.evaluations.gradient;
    total.local += thread->work.evaluations.local;
  }
  if (!device_) return total;
  const Evaluations there = device_->evaluations();
  return {total.logp + there.logp, total.gradient + there.gradient, total.local + there.local};
}

void Ensemble::reset_evaluations() {
  if (device_) device_->reset_evaluations();
  for (const auto& thread : threads_) thread->work.evaluations = {};
}

// States alone, unless values that go with them could not be computed from them again.
void Ensemble::save(ByteWriter& out) const {
  out.put(step_);
  const auto dim = static_cast<std::size_t>(target_.domain().dim());
  for (int chain = 0; chain < chains_; ++chain) out.put_array(std::span(state(chain), dim));
  out.put(static_cast<std::uint32_t>(carried_ ? owner_.size() : 0));
  if (!carried_) return;
  out.put_array(std::span<const char>(owner_));
  for (const auto& storage : tiles_) {
    const Tile& tile = storage->tile;
    out.put(static_cast<std::uint8_t>(tile.logp_current | tile.score_current << 1 |
                                      tile.kept_current << 2 | static_cast<bool>(tile.own) << 3));
    for (const Rows<float>& rows : {tile.own, tile.score, tile.kept}) {
      for (int r = 0; rows && r < tile.rows(); ++r) {
        out.put_array(std::span<const float>(rows.row(r)));
      }
    }
    out.put_array(std::span<const double>(tile.logp, static_cast<std::size_t>(tile.rows())));
  }
}

void Ensemble::restore(ByteReader& in) {
  step_ = in.get<std::uint64_t>();
  const auto dim = static_cast<std::size_t>(target_.domain().dim());
  RowBuffer<Symbol> states(chains_, target_.domain().dim());
  for (int chain = 0; chain < chains_; ++chain) in.get_array(std::span(states.view()[chain], dim));
  set_states(states.view());
  evaluate();
  owner_.assign(std::min<std::size_t>(in.get<std::uint32_t>(), 64), ' ');
  carried_ = !owner_.empty();
  if (!carried_) return;
  in.get_array(std::span<char>(owner_));
  for (const auto& storage : tiles_) {
    Tile& tile = storage->tile;
    const auto flags = in.get<std::uint8_t>();
    tile.logp_current = flags & 1, tile.score_current = flags & 2, tile.kept_current = flags & 4;
    if (flags & 8) storage->make_own(static_cast<int>(in.next_array_length(sizeof(float))));
    for (const Rows<float>& rows : {tile.own, tile.score, tile.kept}) {
      for (int r = 0; rows && r < tile.rows(); ++r) in.get_array(std::span<float>(rows.row(r)));
    }
    in.get_array(std::span<double>(tile.logp, static_cast<std::size_t>(tile.rows())));
  }
}

}  // namespace saltus
