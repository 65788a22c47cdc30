#include "saltus/run/ensemble.hpp"

#include <algorithm>
#include <cmath>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// A thread without a tile would only take memory.
int useful_threads(int threads, int tiles) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(threads, 1, std::max(1, tiles));
}

}  // namespace

Ensemble::Storage::Storage(const Domain& domain, int rows)
    : x(rows, domain.dim()),
      score(rows, domain.score_size()),
      logp(static_cast<std::size_t>(rows)) {
  tile.x = x.view();
  tile.score = score.view();
  tile.logp = logp.data();
}

Ensemble::Ensemble(const Target& target, int chains, int tile, int threads, std::uint64_t seed)
    : target_(target),
      chains_(chains),
      tile_size_(std::min(chains, tile > 0 ? tile : target.preferred_tile())),
      seed_(seed),
      pool_(useful_threads(threads, (chains + tile_size_ - 1) / std::max(1, tile_size_))) {
  if (chains < 1) throw UsageError("a run needs at least one chain");
  ops::single_threaded_blas();
  for (int first = 0; first < chains; first += tile_size_) {
    auto& storage = tiles_.emplace_back(std::make_unique<Storage>(target.domain(), tile_size_));
    storage->tile.x.rows = storage->tile.score.rows = std::min(tile_size_, chains - first);
    storage->tile.first_chain = static_cast<std::uint32_t>(first);
  }
  for (int t = 0; t < pool_.threads(); ++t) {
    auto& thread = threads_.emplace_back(
        new Thread{Storage(target.domain(), tile_size_),
                   {},
                   std::vector<StepInfo>(static_cast<std::size_t>(tile_size_))});
    thread->work.proposal = thread->proposal.tile;
    thread->work.seed = seed;
  }
}

const Symbol* Ensemble::state(int chain) const {
  return tiles_[static_cast<std::size_t>(chain / tile_size_)]->tile.x[chain % tile_size_];
}

void Ensemble::start_random() {
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

void Ensemble::start_from(Rows<const Symbol> states) {
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
    std::copy_n(states[chain], domain.dim(), const_cast<Symbol*>(state(chain)));
  }
}

void Ensemble::evaluate() {
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int thread) {
    Tile& tile = tiles_[static_cast<std::size_t>(t)]->tile;
    tile.step = step_;
    Workspace& work = threads_[static_cast<std::size_t>(thread)]->work;
    target_.evaluate(work.at(step_), tile.x, tile.logp, tile.score);
    tile.logp_current = true;
  });
  for (const auto& storage : tiles_) {
    for (int r = 0; r < storage->tile.rows(); ++r) {
      if (std::isfinite(storage->tile.logp[r])) continue;
      throw DataError("log p of the state of chain " +
                      std::to_string(storage->tile.first_chain + static_cast<std::uint32_t>(r)) +
                      " is not finite; start from states that the model allows");
    }
  }
}

void Ensemble::advance(const Sampler& sampler, std::uint64_t steps, StepObserver& observer) {
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int number) {
    Tile& tile = tiles_[static_cast<std::size_t>(t)]->tile;
    Thread& thread = *threads_[static_cast<std::size_t>(number)];
    const std::span info(thread.info.data(), static_cast<std::size_t>(tile.rows()));
    if (sampler.exact() && !tile.logp_current) {
      target_.evaluate(thread.work.at(tile.step), tile.x, tile.logp, {});
      tile.logp_current = true;
    }
    for (std::uint64_t k = 0; k < steps; ++k) {
      thread.work.want_logp = observer.wants_logp(k);
      sampler.step(target_, tile, thread.work, info);
      observer.after_step(tile, info, k);
    }
  });
  step_ += steps;
}

Evaluations Ensemble::evaluations() const {
  Evaluations total;
  for (const auto& thread : threads_) {
    total.logp += thread->work.evaluations.logp;
    total.gradient += thread->work.evaluations.gradient;
  }
  return total;
}

void Ensemble::reset_evaluations() {
  for (const auto& thread : threads_) thread->work.evaluations = {};
}

void Ensemble::save(ByteWriter& out) const {
  out.put(step_);
  const auto dim = static_cast<std::size_t>(target_.domain().dim());
  for (int chain = 0; chain < chains_; ++chain) out.put_array(std::span(state(chain), dim));
}

void Ensemble::restore(ByteReader& in) {
  step_ = in.get<std::uint64_t>();
  const auto dim = static_cast<std::size_t>(target_.domain().dim());
  RowBuffer<Symbol> states(chains_, target_.domain().dim());
  for (int chain = 0; chain < chains_; ++chain) in.get_array(std::span(states.view()[chain], dim));
  start_from(states.view());
  evaluate();
}

}  // namespace saltus
