#include "sampler/constrained/swap_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/constrained/entries.hpp"

namespace saltus {
namespace {

constexpr double kTiny = 0x1p-900;  // of a sum of weights: the next largest becomes 1
constexpr int kMostTuned = 64;      // mean swaps: a step costs as many passes over the coordinates
constexpr double kMostPaths = 1e8;  // of all states of a table

// The level that sites are drawn from; none: from both.
using Level = std::optional<Symbol>;

// Sites at a level, which leave it one after the other.
class Side {
 public:
  // With log weights of all sites of x. Takes the slots 1 and 2 of the memory.
  Side(const Symbol* x, Level level, std::span<const double> log_weights, Scratch& room)
      : log_weights_(log_weights),
        sites_(room.get<std::int32_t>(2, log_weights.size())),
        weights_(room.get<double>(1, log_weights.size())) {
    for (std::size_t i = 0; i < log_weights.size(); ++i) {
      if (!level || x[i] == *level) sites_[left_++] = static_cast<std::int32_t>(i);
    }
    weigh();
  }

  // Takes a site away, adding the log of its probability.
  std::int32_t draw(double u, double& log_q) {
    const double sum = total();
    double part = u * sum;
    std::size_t place = 0;
    while (place + 1 < left_ && (part -= weights_[place]) >= 0) ++place;
    while (place > 0 && !(weights_[place] > 0)) --place;  // rounding at the end
    return take(place, sum, log_q);
  }
  void take_site(std::int32_t site, double& log_q) {
    const double sum = total();
    take(static_cast<std::size_t>(std::find(sites_, sites_ + left_, site) - sites_), sum, log_q);
  }

 private:
  void weigh() {
    top_ = -INFINITY;
    for (std::size_t k = 0; k < left_; ++k) top_ = std::max(top_, log_weight(k));
    for (std::size_t k = 0; k < left_; ++k) weights_[k] = std::exp(log_weight(k) - top_);
  }
  double log_weight(std::size_t place) const {
    return log_weights_[static_cast<std::size_t>(sites_[place])];
  }
  double total() {
    double sum = 0;
    for (std::size_t k = 0; k < left_; ++k) sum += weights_[k];
    if (sum > kTiny) return sum;
    weigh();
    sum = 0;
    for (std::size_t k = 0; k < left_; ++k) sum += weights_[k];
    return sum;
  }
  std::int32_t take(std::size_t place, double sum, double& log_q) {
    log_q += log_weight(place) - top_ - std::log(sum);
    const std::int32_t site = sites_[place];
    --left_;
    sites_[place] = sites_[left_];
    weights_[place] = weights_[left_];
    return site;
  }

  std::span<const double> log_weights_;
  std::int32_t* sites_;
  double* weights_;
  std::size_t left_ = 0;
  double top_ = 0;
};

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

int ones_in(const Symbol* x, int dim) {
  return static_cast<int>(std::count(x, x + dim, Symbol{1}));
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
double SwapPath::propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                         std::int32_t* flips, std::uint32_t& count) const {
  halve(d);
  const int swaps =
      options_.fixed ? most() : std::min(1 + static_cast<int>(stream.uniform(0) * most()), most());
  double log_q = 0;
  const auto draw = [&](Level level, int sites) {
    if (sites == 0) return;
    Side side(x, level, d, room);
    for (int k = 0; k < sites; ++k) {
      const std::uint32_t number = ++count;
      flips[number - 1] = side.draw(stream.uniform(number), log_q);
    }
  };
  if (of_parity()) {
    draw({}, 2 * swaps);
    return log_q;
  }
  const Ways ways(constraint(), ones_in(x, constraint().dim()), swaps);
  if (ways.count() == 0) return 0;  // the state stays
  const auto last = static_cast<std::uint32_t>(2 * limit() + 1);
  const Ways::Way way = ways.draw(ways.count() > 1 ? stream.uniform(last) : 0);
  draw(1, way.going);
  draw(0, way.coming);
  return log_q - std::log(ways.count());
}

double SwapPath::log_path(const Symbol* x, std::span<const double> log_weights,
                          std::span<const std::int32_t> path, Scratch& room) const {
  double log_q = 0;
  const auto take = [&](Level level, std::span<const std::int32_t> sites) {
    if (sites.empty()) return;
    Side side(x, level, log_weights, room);
    for (const std::int32_t i : sites) side.take_site(i, log_q);
  };
  if (of_parity()) {
    take({}, path);
    return log_q;
  }
  const std::size_t going = leading_ones(x, path);
  take(1, path.first(going));
  take(0, path.subspan(going));
  const Ways ways(constraint(), ones_in(x, constraint().dim()), swaps_of(x, path));
  return log_q - std::log(ways.count());
}

// Reversed, a path begins with the zeros that came, which are ones now.
double SwapPath::log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                          Scratch& room) const {
  if (flips.empty()) return 0;
  halve(d);
  const std::span path(room.get<std::int32_t>(3, flips.size()), flips.size());
  std::ranges::reverse_copy(flips, path.begin());
  return log_path(y, d, path, room);
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
        const double log_q = log_r + log_path(x, there, flips, room);
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
