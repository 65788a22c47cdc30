#include "sampler/constrained/swap_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/constrained/entries.hpp"
#include "sampler/constrained/swaps_in_place.hpp"

namespace saltus {
namespace {

constexpr int kMostTuned = 64;      // mean swaps: a step costs as many passes over the coordinates
constexpr double kMostPaths = 1e8;  // of all states of a table

void halve(std::span<double> d) {
  for (double& v : d) v /= 2;
}

// Calls visit with the list in every order that keeps what comes before `middle` before it.
void each_order(std::span<std::int32_t> list, std::size_t middle,
                const std::function<void()>& visit) {
  const std::span first = list.first(middle), second = list.subspan(middle);
  std::ranges::sort(first);
  do {
    std::ranges::sort(second);
    do {
      visit();
    } while (std::ranges::next_permutation(second).found);
  } while (std::ranges::next_permutation(first).found);
}

std::size_t leading_ones(const Symbol* x, std::span<const std::int32_t> sites) {
  const auto end = std::ranges::find_if(sites, [x](std::int32_t i) { return x[i] == 0; });
  return static_cast<std::size_t>(end - sites.begin());
}

}  // namespace

SwapPath::SwapPath(const Constraint& constraint, const SwapPathOptions& options, bool single)
    : FlipKernel(constraint), options_(options), single_(single) {
  if (single_) options_ = {1, false, true};
  if (!options_.adapt) options_.adapt = !options_.swaps;
  if (!*options_.adapt && !options_.swaps) throw UsageError("adapt=false needs a number of swaps");
  if (!options_.swaps) options_.swaps = 1;
  if (*options_.swaps < 1) {
    throw UsageError("swaps is " + std::to_string(*options_.swaps) + "; it must be at least 1");
  }
  options_.swaps = std::min(*options_.swaps, std::max(1, limit()));
}

// The numbers of ones that may leave and of zeros that may come in a step of r swaps.
class SwapPath::Ways {
 public:
  struct Way {
    int going, coming;
  };
  Ways(const Constraint& constraint, int ones, int r) {
    for (const Way& w : {Way{r, r}, Way{r, r - 1}, Way{r - 1, r}}) {
      const int sum = ones - w.going + w.coming;
      if (w.going > ones || w.coming > constraint.dim() - ones) continue;
      if (sum >= constraint.low() && sum <= constraint.high()) list_[count_++] = w;
    }
  }
  int count() const { return static_cast<int>(count_); }
  Way draw(double u) const {
    return list_[std::min(static_cast<std::size_t>(u * count()), count_ - 1)];
  }

 private:
  std::array<Way, 3> list_{};
  std::size_t count_ = 0;
};

int SwapPath::limit() const {
  if (of_parity()) return constraint().dim() / 2;
  return std::min(constraint().high(), constraint().dim() - constraint().low());
}

int SwapPath::most() const {
  return options_.fixed ? *options_.swaps : std::min(2 * *options_.swaps - 1, limit());
}

int SwapPath::swaps_of(const Symbol* x, std::span<const std::int32_t> flips) const {
  if (of_parity()) return static_cast<int>(flips.size() / 2);
  const auto going = static_cast<int>(leading_ones(x, flips)),
             coming = static_cast<int>(flips.size()) - going;
  return std::abs(going - coming) <= 1 ? std::max(going, coming) : 0;
}

std::vector<Parameter> SwapPath::parameters() const {
  if (single_) return {};
  std::vector<Parameter> list{{"swaps", std::int64_t{*options_.swaps}}, {"adapt", *options_.adapt}};
  if (options_.fixed) list.push_back({"fixed", true});
  return list;
}

std::string SwapPath::missing(const Target& target) const {
  const Constraint* c = target.constraint();
  if (!c || c->kind() == Constraint::Kind::one_hot) return "a constraint on the sum or the parity";
  return FlipKernel::missing(target);
}

// Number 0 of the stream is for r, and the sites take the numbers from 1 on; the way comes after
// all of them.
double SwapPath::draw_path(Sides& sides, int ones, const Stream& stream, std::int32_t* flips,
                           std::uint32_t& count) const {
  const int swaps =
      options_.fixed ? most() : std::min(1 + static_cast<int>(stream.uniform(0) * most()), most());
  double log_q = 0;
  const auto draw = [&](Side side, int sites) {
    if (sites == 0) return;
    sides.begin(side);
    for (int k = 0; k < sites; ++k) {
      const std::uint32_t number = ++count;
      flips[number - 1] = sides.draw(stream.uniform(number), log_q);
    }
  };
  if (of_parity()) {
    draw({}, 2 * swaps);
    return log_q;
  }
  const Ways ways(constraint(), ones, swaps);
  if (ways.count() == 0) return 0;  // the state stays
  const auto last = static_cast<std::uint32_t>(2 * limit() + 1);
  const Ways::Way way = ways.draw(ways.count() > 1 ? stream.uniform(last) : 0);
  draw(1, way.going);
  draw(0, way.coming);
  return log_q - std::log(ways.count());
}

double SwapPath::log_path(Sides& sides, const Symbol* x, int ones,
                          std::span<const std::int32_t> path) const {
  double log_q = 0;
  const auto take = [&](Side side, std::span<const std::int32_t> sites) {
    if (sites.empty()) return;
    sides.begin(side);
    for (const std::int32_t i : sites) sides.take(i, log_q);
  };
  if (of_parity()) {
    take({}, path);
    return log_q;
  }
  const std::size_t going = leading_ones(x, path);
  take(1, path.first(going));
  take(0, path.subspan(going));
  return log_q - std::log(Ways(constraint(), ones, swaps_of(x, path)).count());
}

int SwapPath::ones_of(const Symbol* x) const {
  if (constraint().low() == constraint().high()) return constraint().low();
  return static_cast<int>(std::count(x, x + constraint().dim(), Symbol{1}));
}

double SwapPath::propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                         std::int32_t* flips, std::uint32_t& count) const {
  halve(d);
  ListedSides sides(x, d, room);
  return draw_path(sides, ones_of(x), stream, flips, count);
}

// Reversed, a path begins with the zeros that came, which are ones now.
double SwapPath::log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                          Scratch& room) const {
  if (flips.empty()) return 0;
  halve(d);
  const std::span path(room.get<std::int32_t>(3, flips.size()), flips.size());
  std::ranges::reverse_copy(flips, path.begin());
  ListedSides sides(y, d, room);
  return log_path(sides, y, ones_of(y), path);
}

bool SwapPath::in_place(const Target& target) const {
  const LocalMoves* moves = target.local_moves();
  if (!moves || !moves->moves_keep_score()) return false;
  return static_cast<double>(most()) * (moves->max_neighbours() + 1) <= target.domain().dim();
}

Sampler::Needs SwapPath::needs(const Target& target) const {
  if (!in_place(target)) return FlipKernel::needs(target);
  return {true, true, target.local_moves()->need_target_cache()};
}

bool SwapPath::accumulates_rounding(const Target& target) const {
  return in_place(target) || FlipKernel::accumulates_rounding(target);
}

int SwapPath::cache_size(const Target& target) const {
  return in_place(target) ? SwapTrees::size(target.domain().dim(), !of_parity()) : 0;
}

// Whether there are trees depends on the number of swaps.
std::string SwapPath::cache_key() const {
  return name() + " " + std::to_string(*options_.swaps);
}

void SwapPath::start(const Target& target, Tile& tile, Workspace& work) const {
  if (!in_place(target)) return;
  for (int r = 0; r < tile.rows(); ++r) {
    SwapsInPlace(target, tile, r, work, !of_parity(), 2 * most()).weigh_all();
  }
}

void SwapPath::step(const Target& target, Tile& tile, Workspace& work,
                    std::span<StepInfo> info) const {
  if (!in_place(target)) return FlipKernel::step(target, tile, work, info);
  const bool kept = target.local_moves()->need_target_cache();
  if (tile.step % std::max(kFreshSteps, static_cast<std::uint64_t>(tile.x.cols)) == 0) {
    target.evaluate_and_cache(work.at(tile.step), tile.x, tile.logp, tile.score,
                              kept ? tile.target_cache : Rows<float>{});
    work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
    work.evaluations.gradient += static_cast<std::uint64_t>(tile.rows());
    start(target, tile, work);
  }
  for (int r = 0; r < tile.rows(); ++r) {
    step_in_place(target, tile, r, work, info[static_cast<std::size_t>(r)]);
  }
  tile.score_current = true;
  tile.target_cache_current = !tile.target_cache || kept;
  ++tile.step;
}

void SwapPath::step_in_place(const Target& target, Tile& tile, int r, Workspace& work,
                             StepInfo& info) const {
  SwapsInPlace place(target, tile, r, work, !of_parity(), 2 * most());
  auto* room = work.sampler_scratch.get<std::int32_t>(6, static_cast<std::size_t>(2 * most()));
  std::uint32_t count = 0;
  const double log_q = draw_path(place.trees(), ones_of(place.x()),
                                 work.stream(tile, r, Purpose::propose), room, count);
  const std::span flips(room, count);
  info = {1.0, count, count, true, false};
  if (count == 0) return;
  if (!std::isfinite(log_q)) {
    metropolis(NAN, 0.5, info);
    return place.weigh_all();
  }
  const double change = place.flip(flips);
  std::ranges::reverse(flips);
  const double back = log_path(place.trees(), place.x(), ones_of(place.x()), flips);
  if (metropolis(change + back - log_q, tile, r, work, info)) {
    place.restore(flips);
    tile.logp[r] += change;
  } else {
    place.undo(flips);
  }
}

void SwapPath::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                 std::span<double> acceptance) const {
  const int dim = table.domain().dim(), ones = of_parity() ? dim : constraint().high(),
            zeros = of_parity() ? dim : dim - constraint().low();
  if (std::pow(ones * zeros, most()) * static_cast<double>(table.size()) > kMostPaths) {
    throw UsageError("there are too many paths of " + std::to_string(most()) +
                     " swaps for an exact transition matrix: take fewer swaps");
  }
  Scratch room;
  std::vector<double> there(static_cast<std::size_t>(dim)), back(there);
  const double log_r = options_.fixed ? 0 : -std::log(most());
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, table.size(), 0.0);
    acceptance[s] = 0;
    if (!std::isfinite(table.logp(s))) continue;
    const Symbol* x = table.state(s);
    estimated_changes(table.domain(), x, table.score(s), there);
    halve(there);
    double leaving = 0;
    for (std::size_t t = 0; t < table.size(); ++t) {
      std::vector<std::int32_t> flips = flips_between(table, s, t);
      const int swaps = swaps_of(x, flips);
      if (swaps == 0 || swaps > most() || (options_.fixed && swaps != most())) continue;
      each_order(flips, of_parity() ? 0 : leading_ones(x, flips), [&] {
        ListedSides sides(x, there, room);
        const double log_q = log_r + log_path(sides, x, ones_of(x), flips);
        estimated_changes(table.domain(), table.state(t), table.score(t), back);
        leaving += std::exp(log_q);
        add_tested(table, s, t, log_q, log_r + log_back(table.state(t), back, flips, room), row,
                   acceptance[s]);
      });
    }
    acceptance[s] += std::max(0.0, 1 - leaving);  // where no way is open the state stays
  }
  add_stays(table, matrix, acceptance);
}

// On the scale of Gwg::tuning.
std::vector<Tuning> SwapPath::tuning() const {
  const double high = 2 * std::log(std::clamp(limit(), 1, kMostTuned));
  return {{std::min(2 * std::log(*options_.swaps), high), 0, high, 0.574, "swaps"}};
}

std::unique_ptr<Sampler> SwapPath::tuned(std::span<const double> value, Phase) const {
  SwapPathOptions options = options_;
  options.swaps = std::clamp(static_cast<int>(std::lround(std::exp(value[0] / 2))), 1, limit());
  return std::make_unique<SwapPath>(constraint(), options);
}

SamplerEntry constrained_gwg_entry() {
  return {"gwg",
          "swaps a one and a zero, or flips a pair, chosen by the gradient: exact",
          {},
          [](const Target& target, const Settings&) -> std::unique_ptr<Sampler> {
            return std::make_unique<SwapPath>(*target.constraint(), SwapPathOptions{}, true);
          }};
}

SamplerEntry constrained_pas_entry() {
  return {"pas",
          "the same with several ones and zeros at once: exact",
          {"swaps", "adapt", "fixed"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            SwapPathOptions options;
            options.swaps = integer_setting(settings, "swaps");
            options.adapt = switch_setting(settings, "adapt");
            options.fixed = switch_setting(settings, "fixed").value_or(false);
            return std::make_unique<SwapPath>(*target.constraint(), options);
          }};
}

}  // namespace saltus
