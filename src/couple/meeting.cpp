#include "saltus/couple/meeting.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/proposal.hpp"

namespace saltus {
namespace {

// Numbers of the steps that X takes alone before Y starts.
constexpr std::uint64_t kAhead = std::uint64_t{1} << 55;

// Memory of two chains.
struct TwoRows {
  TwoRows(const Target& target, double* logp_of_rows)
      : x(2, target.domain().dim()),
        score(2, target.domain().score_size()),
        cache(2, std::max(1, target.cache_size())) {
    tile.x = x.view();
    tile.score = score.view();
    if (target.cache_size() > 0) tile.target_cache = cache.view();
    tile.logp = logp_of_rows;
  }
  RowBuffer<Symbol> x;
  RowBuffer<float> score, cache;
  Tile tile;
};

Tile only_first(Tile tile) {
  tile.x.rows = tile.score.rows = tile.target_cache.rows = 1;
  return tile;
}

// The sums that make an estimate: of h(X_t) within the window, and of the differences between the
// chains, weighted by how often the lag fits in.
class Estimate {
 public:
  Estimate(const Domain& domain, const MeetingPlan& plan)
      : domain_(domain), plan_(plan), sums_(plan.coordinates.size() + 1) {}

  void add_state(const Tile& tile, std::uint64_t t) {
    const auto [first, last] = *plan_.window;
    if (t >= first && t <= last) add(tile, 0, 1);
  }
  // X_t and Y_(t - lag), which differ.
  void add_difference(const Tile& tile, std::uint64_t t) {
    const auto [first, last] = *plan_.window;
    const std::uint64_t lag = plan_.lag;
    if (t < first + lag) return;
    const std::uint64_t beyond = std::max(lag, t > last ? t - last : 0);
    const std::uint64_t lags = (t - first) / lag, lags_beyond = (beyond + lag - 1) / lag;
    const double weight = static_cast<double>(lags) - static_cast<double>(lags_beyond) + 1;
    add(tile, 0, weight);
    add(tile, 1, -weight);
  }
  std::vector<double> result() const {
    std::vector<double> means = sums_;
    for (double& m : means) m /= static_cast<double>(plan_.window->last - plan_.window->first + 1);
    return means;
  }

 private:
  void add(const Tile& tile, int r, double weight) {
    for (std::size_t c = 0; c < plan_.coordinates.size(); ++c)
      sums_[c] += weight * domain_.value(tile.x[r][plan_.coordinates[c]]);
    sums_.back() += weight * tile.logp[r];
  }

  const Domain& domain_;
  const MeetingPlan& plan_;
  std::vector<double> sums_;
};

class Pair {
 public:
  Pair(const Target& target, const CoupledKernel& kernel, std::uint32_t number,
       const MeetingPlan& plan)
      : target_(target),
        kernel_(kernel),
        plan_(plan),
        at_{plan.seed, number, 0},
        chains_(target, logp_),
        proposals_(target, logp_of_proposals_),
        estimate_(target.domain(), plan) {
    work_.proposal = proposals_.tile;
    work_.seed = plan.seed;
  }

  Meeting run();

 private:
  void start(int r);
  void step_alone(std::uint64_t number);
  void record() {
    if (plan_.window) estimate_.add_state(chains_.tile, t_);
  }
  bool equal() const {
    const Rows<Symbol> x = chains_.tile.x;
    return std::equal(x[0], x[0] + x.cols, x[1]);
  }

  const Target& target_;
  const CoupledKernel& kernel_;
  const MeetingPlan& plan_;
  CoupledStep at_;
  double logp_[2] = {}, logp_of_proposals_[2] = {};
  TwoRows chains_, proposals_;
  Workspace work_;
  Estimate estimate_;
  std::uint64_t t_ = 0;  // of X
};

// Row r at a uniform state, independent of the other's.
void Pair::start(int r) {
  const Domain& domain = target_.domain();
  const Tile& tile = chains_.tile;
  const Stream stream(plan_.seed, at_.pair, static_cast<std::uint64_t>(r), Purpose::start);
  for (int i = 0; i < domain.dim(); ++i) {
    const auto levels = static_cast<std::uint64_t>(domain.levels(i));
    tile.x[r][i] = static_cast<Symbol>(stream.word(static_cast<std::uint32_t>(i)) * levels >> 32);
  }
  if (const ForbiddenStates* forbidden = target_.forbidden_states()) {
    allow(*forbidden, plan_.seed, 2 * at_.pair + static_cast<std::uint32_t>(r), tile.x[r]);
  }
  const auto row = [r](auto rows) {
    if (rows) rows.data = rows[r];
    rows.rows = 1;
    return rows;
  };
  target_.evaluate_and_cache(work_.at(0), row(tile.x), tile.logp + r, row(tile.score),
                             row(tile.target_cache));
  if (std::isfinite(tile.logp[r])) return;
  throw StartError(
      "coupled chains start from states drawn uniformly, and the model's log p of one of them is "
      "not finite");
}

void Pair::step_alone(std::uint64_t number) {
  Tile x = only_first(chains_.tile);
  at_.number = number;
  kernel_.step(x, at_, work_);
  ++t_;
  record();
}

Meeting Pair::run() {
  start(0);
  record();
  while (t_ < plan_.lag) step_alone(kAhead + t_);
  start(1);
  std::uint64_t steps = 0;
  for (; !equal(); ++steps) {
    if (plan_.window) estimate_.add_difference(chains_.tile, t_);
    if (steps == plan_.max_steps) return {};
    at_.number = steps;
    kernel_.step(chains_.tile, at_, work_);
    ++t_;
    record();
  }
  Meeting meeting{steps, {}};
  if (!plan_.window) return meeting;
  for (std::uint64_t number = steps; t_ < plan_.window->last; ++number) step_alone(number);
  meeting.estimates = estimate_.result();
  return meeting;
}

}  // namespace

Meeting run_pair(const Target& target, const CoupledKernel& kernel, std::uint32_t pair,
                 const MeetingPlan& plan) {
  return Pair(target, kernel, pair, plan).run();
}

DistanceBound distance_bound(std::span<const std::uint64_t> times, std::uint64_t lag,
                             std::uint64_t t) {
  const auto n = static_cast<double>(times.size());
  double sum = 0, squares = 0;
  for (const std::uint64_t time : times) {
    const auto terms = static_cast<double>(time > t ? (time - t + lag - 1) / lag : 0);
    sum += terms;
    squares += terms * terms;
  }
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / std::max(1.0, n - 1))};
}

}  // namespace saltus
