#include "saltus/anneal/annealing.hpp"

#include <algorithm>
#include <cmath>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// Between two evaluations from scratch, beta grows by no more than this factor, and so do the
// errors of values that are brought along (Tempered::change_beta); and there are no more moves.
constexpr double kMostGrowth = 2;
constexpr std::size_t kMostMoves = 64;

int tiles_of(int chains, int size) {
  return (chains + size - 1) / size;
}

// What a Tile points into. All tiles are of one size: a sampler may swap them with proposals.
struct Memory {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, kept, own;
  std::vector<double> logp;
  Tile tile;

  Memory(const Target& target, const Sampler& sampler, int rows)
      : x(rows, target.domain().dim()),
        score(rows, target.domain().score_size()),
        logp(static_cast<std::size_t>(rows)) {
    if (target.kept_size() > 0) kept = RowBuffer<float>(rows, target.kept_size());
    if (const int size = sampler.own_size(target); size > 0) own = RowBuffer<float>(rows, size);
    tile.x = x.view(), tile.score = score.view(), tile.kept = kept.view(), tile.own = own.view();
    tile.logp = logp.data();
  }
};

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
  if (plan.chains < 2) throw UsageError("annealed importance sampling needs at least two chains");
}

void check_annealing(const Sampler& sampler, const Target& target) {
  if (!sampler.exact() || target.stochastic()) {
    throw UsageError(sampler.name() + " biases the estimate; use dmala, gwg or gibbs");
  }
  if (sampler.interacting() || !sampler.random() || !sampler.enumerable()) {
    throw UsageError(sampler.name() +
                     " is no Markov chain on the model's states; use dmala, gwg or gibbs");
  }
}

namespace {

void check_start(double logp) {
  if (std::isfinite(logp)) return;
  throw DataError("log p of a state on the way to the model is not finite: the base gives states " +
                  std::string("that the model does not allow"));
}

}  // namespace

struct Annealing::Chains : Memory {
  double* log_weights;  // of these chains, as below
  double* acceptance;
  using Memory::Memory;
};

struct Annealing::Lender {
  Tempered path;
  Memory proposal;
  Workspace work;
  std::vector<StepInfo> info;
  Lender(const Tempered& path_, const Sampler& sampler, int rows, std::uint64_t seed)
      : path(path_), proposal(path_, sampler, rows), info(static_cast<std::size_t>(rows)) {
    work.proposal = proposal.tile;
    work.seed = seed;
  }
};

Annealing::Annealing(const Tempered& path, const Sampler& sampler, const AnnealingPlan& plan,
                     Direction direction)
    : path_(path),
      sampler_(sampler),
      plan_(plan),
      way_(plan.betas),
      tile_size_(std::clamp(plan.tile > 0 ? plan.tile : path.preferred_tile(), 1,
                            std::max(1, plan.chains))),

      pool_(useful_threads(plan.threads, tiles_of(plan.chains, tile_size_))) {
  check_plan(plan);
  check_annealing(sampler, path);
  log_weights_.resize(static_cast<std::size_t>(plan.chains));
  acceptance_.resize(log_weights_.size());
  if (direction == Direction::reverse) std::reverse(way_.begin(), way_.end());
  plan_rounds();
  for (int first = 0; first < plan.chains; first += tile_size_) {
    Chains& chains = *tiles_.emplace_back(std::make_unique<Chains>(path_, sampler_, tile_size_));
    Tile& tile = chains.tile;
    const int rows = std::min(tile_size_, plan.chains - first);
    tile.x.rows = tile.score.rows = tile.kept.rows = tile.own.rows = rows;
    tile.first_chain = static_cast<std::uint32_t>(first);
    chains.log_weights = log_weights_.data() + first;
    chains.acceptance = acceptance_.data() + first;
  }
  for (int t = 0; t < pool_.threads(); ++t) {
    lenders_.push_back(std::make_unique<Lender>(path_, sampler_, tile_size_, plan.seed));
  }
  if (const OnDevice* device = path_.model().on_device()) {
    device_ = device->make_chains(plan.chains, plan.seed);
    if (!device_->serves(sampler_)) device_.reset();
  }
}

Annealing::~Annealing() = default;

void Annealing::plan_rounds() {
  double evaluated_at = 0;
  for (std::size_t k = 0; k + 1 < way_.size(); ++k) {
    const bool far = way_[k + 1] > kMostGrowth * evaluated_at;
    if (!rounds_.empty() && !far && k < rounds_.back() + kMostMoves) continue;
    rounds_.push_back(k);
    evaluated_at = std::max(way_[k], way_[k + 1]);
  }
  rounds_.push_back(way_.size() - 1);
}

Symbol* Annealing::row(int chain) const {
  return tiles_[static_cast<std::size_t>(chain / tile_size_)]->tile.x[chain % tile_size_];
}

const Symbol* Annealing::state(int chain) const {
  if (!states_here_) {
    const RowBuffer<Symbol> states(plan_.chains, path_.domain().dim());
    device_->get_states(states.view());
    for (int c = 0; c < plan_.chains; ++c) {
      std::copy_n(states.view()[c], states.view().cols, row(c));
    }
    states_here_ = true;
  }
  return row(chain);
}

void Annealing::set_states(Rows<const Symbol> states) {
  const Domain& domain = path_.domain();
  if (states.rows != plan_.chains || states.cols != domain.dim()) {
    throw DataError("starting states come as " + std::to_string(states.rows) + " rows of " +
                    std::to_string(states.cols) + ", but there are " +
                    std::to_string(plan_.chains) + " chains of " + std::to_string(domain.dim()) +
                    " coordinates");
  }
  for (int chain = 0; chain < plan_.chains; ++chain) {
    for (int i = 0; i < domain.dim(); ++i) {
      if (states[chain][i] < domain.levels(i)) continue;
      throw DataError("the starting state of chain " + std::to_string(chain) + " has level " +
                      std::to_string(states[chain][i]) + " at coordinate " + std::to_string(i) +
                      ", which has " + std::to_string(domain.levels(i)) + " levels");
    }
    std::copy_n(states[chain], domain.dim(), row(chain));
  }
  states_here_ = true, device_ready_ = false;
}

void Annealing::start(Rows<const Symbol> states) {
  set_states(states);
  round_ = 0;
  std::fill(log_weights_.begin(), log_weights_.end(), 0.0);
  std::fill(acceptance_.begin(), acceptance_.end(), 0.0);
}

void Annealing::start() {
  const RowBuffer<Symbol> states(plan_.chains, path_.domain().dim());
  for (int chain = 0; chain < plan_.chains; ++chain) {
    const Stream stream(plan_.seed, static_cast<std::uint32_t>(chain), 0, Purpose::start);
    path_.base().draw(stream, states.view()[chain]);
  }
  start(states.view());
}

bool Annealing::go(const std::function<bool(std::size_t, std::size_t)>& between_rounds) {
  while (round_ + 1 < rounds_.size()) {
    const std::size_t first = rounds_[round_], last = rounds_[round_ + 1];
    if (device_) {
      anneal_on_device(first, last);
    } else {
      const ops::OneBlasThread one_thread;
      pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int thread) {
        anneal(*tiles_[static_cast<std::size_t>(t)], *lenders_[static_cast<std::size_t>(thread)],
               first, last);
      });
    }
    ++round_;
    if (between_rounds && !between_rounds(rounds_[round_], rounds_.back())) break;
  }
  return round_ + 1 == rounds_.size();
}

// The same moves as below. The device keeps the model's own log p and score, which do not depend on
// beta.
void Annealing::anneal_on_device(std::size_t first, std::size_t last) {
  if (!device_ready_) {
    const RowBuffer<Symbol> states(plan_.chains, path_.domain().dim());
    for (int c = 0; c < plan_.chains; ++c) {
      std::copy_n(row(c), states.view().cols, states.view()[c]);
    }
    device_->put_states(states.view());
    std::vector<double> logp(static_cast<std::size_t>(plan_.chains));
    device_->evaluate(0, logp);
    for (double l : logp) check_start(l);
    device_ready_ = true;
  }
  states_here_ = false;
  const std::span betas(way_.data() + first, last - first + 1);
  device_->anneal(sampler_, first * static_cast<std::uint64_t>(plan_.steps_per_beta),
                  {&path_.base(), betas, plan_.steps_per_beta, last + 1 == way_.size()},
                  {log_weights_, acceptance_});
}

// Moves first, ..., last - 1: move k goes from beta way[k] to way[k + 1]. The tile's logp and score
// are those at the lender's beta throughout. Transitions after the last move would not enter any
// weight.
void Annealing::anneal(Chains& chains, Lender& lender, std::size_t first, std::size_t last) {
  chains.tile.step = first * static_cast<std::uint64_t>(plan_.steps_per_beta);
  for (std::size_t k = first; k < last; ++k) {
    const double from = way_[k], to = way_[k + 1];
    if (k == first) {
      lender.path.set_beta(std::max(from, to));
      evaluate_afresh(chains, lender);
    }
    weigh(chains, lender, from, to);
    Tile& tile = chains.tile;
    lender.path.change_beta(to, tile.x, tile.logp, tile.score_current ? tile.score : Rows<float>{});
    if (k + 2 < way_.size()) transitions(chains, lender);
  }
}

void Annealing::evaluate_afresh(Chains& chains, Lender& lender) const {
  Tile& tile = chains.tile;
  lender.path.evaluate_kept(lender.work.at(tile.step), tile.x, tile.logp, tile.score, tile.kept);
  tile.logp_current = tile.score_current = tile.kept_current = true;
  for (int r = 0; r < tile.rows(); ++r) check_start(tile.logp[r]);
}

// log w += (to - from) (log p - log p_0), where log p_beta - log p_0 = beta (log p - log p_0).
void Annealing::weigh(Chains& chains, const Lender& lender, double from, double to) {
  const Tile& tile = chains.tile;
  const double factor = (to - from) / lender.path.beta();
  for (int r = 0; r < tile.rows(); ++r) {
    chains.log_weights[r] += factor * (tile.logp[r] - path_.base().log_probability(tile.x[r]));
  }
}

void Annealing::transitions(Chains& chains, Lender& lender) {
  Tile& tile = chains.tile;
  Workspace& work = lender.work;
  const Tempered& path = lender.path;
  const Sampler::Needs needs = sampler_.needs(path);
  const bool score = needs.score && !tile.score_current, kept = needs.kept && !tile.kept_current;
  if (score || kept) {
    path.evaluate_kept(work.at(tile.step), tile.x, nullptr, score ? tile.score : Rows<float>{},
                       kept ? tile.kept : Rows<float>{});
    tile.score_current |= score, tile.kept_current |= kept;
  }
  // What a sampler keeps for itself depends on beta.
  if (tile.own) sampler_.start(path, tile, work);
  const std::span info(lender.info.data(), static_cast<std::size_t>(tile.rows()));
  for (int s = 0; s < plan_.steps_per_beta; ++s) {
    work.want_logp = s + 1 == plan_.steps_per_beta;
    sampler_.step(path, tile, work, info);
    for (std::size_t r = 0; r < info.size(); ++r) chains.acceptance[r] += info[r].acceptance;
  }
  if (tile.logp_current) return;
  path.evaluate(work.at(tile.step), tile.x, tile.logp, {});
  tile.logp_current = true;
}

double Annealing::acceptance() const {
  const std::size_t moves = std::min(rounds_[round_], way_.size() - 2);
  double sum = 0;
  for (double a : acceptance_) sum += a;
  return sum / (static_cast<double>(moves) * plan_.steps_per_beta * plan_.chains);
}

// Rounds begin with an evaluation from scratch: states and weights are all there is between them.
void Annealing::save(ByteWriter& out) const {
  out.put(std::uint64_t{round_});
  const auto dim = static_cast<std::size_t>(path_.domain().dim());
  for (int chain = 0; chain < plan_.chains; ++chain) out.put_array(std::span(state(chain), dim));
  out.put_array(std::span<const double>(log_weights_));
  out.put_array(std::span<const double>(acceptance_));
}

void Annealing::restore(ByteReader& in) {
  round_ = in.get<std::uint64_t>();
  if (round_ >= rounds_.size()) throw DataError("the saved annealing has another schedule");
  const RowBuffer<Symbol> states(plan_.chains, path_.domain().dim());
  const auto dim = static_cast<std::size_t>(path_.domain().dim());
  for (int chain = 0; chain < plan_.chains; ++chain) {
    in.get_array(std::span(states.view()[chain], dim));
  }
  set_states(states.view());
  in.get_array(std::span(log_weights_));
  in.get_array(std::span(acceptance_));
}

}  // namespace saltus
