#include "saltus/sampler/rwm.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"

namespace saltus {
namespace {

// Differences of single moves are cheaper than an evaluation as long as no more than this part of
// the coordinates changes.
constexpr double kLocalPart = 1.0 / 32;

// Two-level coordinates that change in every step always change together.
void check_rate(const Domain& domain, double rate) {
  if (!(rate > 0 && std::isfinite(rate))) {
    throw UsageError("rate is " + std::to_string(rate) + "; it must be a positive number");
  }
  int two_level = 0;
  for (int i = 0; i < domain.dim(); ++i) two_level += domain.levels(i) == 2;
  if (two_level > 1 && rate >= domain.dim()) {
    throw UsageError("rate is " + std::to_string(rate) + ", so that all of the " +
                     std::to_string(domain.dim()) +
                     " coordinates change in every step; two-level coordinates then never reach "
                     "all states: it must be below " +
                     std::to_string(domain.dim()));
  }
}

const LocalMoves* usable_moves(const Target& target) {
  const LocalMoves* local = target.local_moves();
  return local && !local->need_score() && !local->need_target_cache() ? local : nullptr;
}

}  // namespace

struct Rwm::Change {
  std::int32_t coordinate;
  Symbol level;
};
struct Rwm::Changes {
  const Change* begin_;
  std::uint32_t count;
  const Change* begin() const { return begin_; }
  const Change* end() const { return begin_ + count; }
};

Rwm::Rwm(const Domain& domain, const RwmOptions& options)
    : domain_(domain), options_(options), rate_(options.rate.value_or(1)) {
  check_window(domain_, options_.window);
  if (options_.rate) check_rate(domain_, *options_.rate);
  options_.window = std::min(options_.window, domain_.max_levels() - 1);
  if (!options_.adapt) options_.adapt = !options_.rate;
  if (!*options_.adapt && !options_.rate) throw UsageError("adapt=false needs a rate");
}

double Rwm::change_probability() const {
  return std::min(1.0, rate_ / domain_.dim());
}

std::vector<Parameter> Rwm::parameters() const {
  std::vector<Parameter> list{{"rate", rate_}, {"adapt", *options_.adapt}};
  if (options_.window) list.push_back({"window", std::int64_t{options_.window}});
  return list;
}

// Tuned is 2 log r. The boldest proposal that makes sense forgets the coordinate with the fewest
// levels: it changes with probability 1 - 1 / levels.
std::vector<Tuning> Rwm::tuning() const {
  int levels = domain_.max_levels();
  for (int i = 0; i < domain_.dim(); ++i) levels = std::min(levels, domain_.levels(i));
  const double most = std::max(1.0, domain_.dim() * (1 - 1.0 / levels));
  const double high = 2 * std::log(most);
  return {{std::clamp(2 * std::log(rate_), 0.0, high), 0, high, 0.237, "rate"}};
}

std::unique_ptr<Sampler> Rwm::tuned(std::span<const double> value, Phase) const {
  RwmOptions options = options_;
  options.rate = std::exp(value[0] / 2);
  return std::make_unique<Rwm>(domain_, options);
}

bool Rwm::accumulates_rounding(const Target& target) const {
  return usable_moves(target) != nullptr;
}

// The gaps between coordinates that change are geometric: one random number for each change, not
// for each coordinate.
Rwm::Changes Rwm::draw_changes(const Symbol* x, const Stream& which, const Stream& level,
                               Change* room) const {
  const double log_keep = std::log1p(-change_probability());
  std::uint32_t count = 0, drawn = 0;
  for (double at = 0;; ++at) {
    at += std::floor(std::log(which.uniform(drawn++)) / log_keep);
    if (at >= domain_.dim()) break;
    const auto i = static_cast<std::int32_t>(at);
    const double u = level.uniform(static_cast<std::uint32_t>(i));
    const int here = x[i], levels = domain_.levels(i);
    int to;
    if (windowed(i)) {
      to = here - options_.window + static_cast<int>(u * 2 * options_.window);
      if (to >= here) ++to;
      if (to < 0 || to >= levels) continue;
    } else {
      to = static_cast<int>(u * (levels - 1));
      if (to >= here) ++to;
    }
    room[count++] = {i, static_cast<Symbol>(to)};
  }
  return {room, count};
}

void Rwm::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  Change* room = work.sampler_scratch.get<Change>(0, static_cast<std::size_t>(domain_.dim()));
  const LocalMoves* local = usable_moves(target);
  const bool by_moves = local && change_probability() <= kLocalPart;
  for (int r = 0; r < tile.rows(); ++r) {
    const Changes changes = draw_changes(tile.x[r], work.stream(tile, r, Purpose::propose),
                                         work.stream(tile, r, Purpose::level), room);
    StepInfo& done = info[static_cast<std::size_t>(r)];
    done = {1.0, changes.count, changes.count, true, false};
    if (by_moves) {
      step_row(target, tile, r, changes, work, done);
    } else {
      std::copy_n(tile.x[r], domain_.dim(), work.proposal.x[r]);
      for (const Change& c : changes) work.proposal.x[r][c.coordinate] = c.level;
    }
  }
  if (!by_moves) step_tile(target, tile, work, info);
  ++tile.step;
  // Sheds the rounding of many small differences.
  if (local && tile.step % static_cast<std::uint64_t>(std::max(256, domain_.dim())) == 0) {
    target.evaluate(work.at(tile.step), tile.x, tile.logp, {});
    work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
  }
}

// One row, move by move in place. A path through states of probability zero says nothing about its
// end: there log p is evaluated.
void Rwm::step_row(const Target& target, Tile& tile, int r, const Changes& changes, Workspace& work,
                   StepInfo& info) const {
  if (changes.count == 0) return;
  const LocalMoves& local = *target.local_moves();
  Symbol* x = tile.x[r];
  Symbol* before = work.sampler_scratch.get<Symbol>(1, static_cast<std::size_t>(domain_.dim()));
  double log_ratio = 0;
  for (const Change& c : changes) {
    double difference = 0;
    local.differences({x}, c.coordinate, c.level, 1, &difference);
    log_ratio += difference;
    *before++ = x[c.coordinate];
    local.move({x}, c.coordinate, c.level);
  }
  work.evaluations.local += changes.count;
  if (!std::isfinite(log_ratio)) {
    double logp = 0;
    target.evaluate(work.at(tile.step + 1), {x, 1, tile.x.cols, tile.x.stride}, &logp, {});
    ++work.evaluations.logp;
    log_ratio = logp - tile.logp[r];
  }
  if (metropolis(log_ratio, tile, r, work, info)) {
    tile.logp[r] += log_ratio;
    tile.score_current = tile.target_cache_current = false;
  } else {
    before -= changes.count;
    for (const Change& c : changes) x[c.coordinate] = *before++;
  }
}

// All rows, whose proposals are ready, by one evaluation.
void Rwm::step_tile(const Target& target, Tile& tile, Workspace& work,
                    std::span<StepInfo> info) const {
  evaluate_logp(target, tile, work);
  for (int r = 0; r < tile.rows(); ++r) {
    StepInfo& done = info[static_cast<std::size_t>(r)];
    if (done.proposed > 0) test_state(work.proposal.logp[r] - tile.logp[r], tile, r, work, done);
  }
}

void Rwm::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const double change = change_probability();
  // Of coordinate i going from level a to b. Levels beyond a table that was cut off exist: going
  // there is a rejection.
  const auto probability = [&](int i, int a, int b) {
    const int w = options_.window, levels = domain_.levels(i);
    if (!windowed(i)) return a == b ? 1 - change : change / (levels - 1);
    if (a != b) return std::abs(a - b) <= w ? change / (2 * w) : 0.0;
    const int outside = std::max(0, w - a) + std::max(0, a + w - (levels - 1));
    return 1 - change + change * outside / (2 * w);
  };
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    double leave = 0, nothing = 1;
    for (std::size_t t = 0; t < table.size(); ++t) {
      double q = 1;
      for (int i = 0; i < domain_.dim(); ++i) {
        q *= probability(i, table.state(s)[i], table.state(t)[i]);
      }
      if (t == s) {
        nothing = q;
        continue;
      }
      row[t] = q * std::exp(std::min(0.0, table.logp(t) - table.logp(s)));
      leave += row[t];
    }
    row[s] = std::max(0.0, 1 - leave);
    acceptance[s] = leave + nothing;
  }
}

SamplerEntry rwm_entry() {
  const auto make = [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
    RwmOptions options;
    options.rate = number_setting(settings, "rate");
    options.adapt = switch_setting(settings, "adapt");
    options.window = window_setting(settings, target.domain());
    return std::make_unique<Rwm>(target.domain(), options);
  };
  return {"rwm",
          "random-walk Metropolis: random coordinates to random levels: exact",
          {"rate", "adapt", "window"},
          make};
}

}  // namespace saltus
