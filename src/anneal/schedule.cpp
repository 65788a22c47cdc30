#include "saltus/anneal/schedule.hpp"

#include <algorithm>
#include <cmath>

#include "anneal/ascent.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

constexpr int kStates = 64;
// Without local moves, each change is an evaluation.
constexpr int kFewStates = 4;
constexpr double kSmallest = 1e-3;  // of the largest change
// Names of chains that no restart and no pilot has.
constexpr std::uint32_t kRangeChains = 0xC0000000u;

struct Changes {
  double largest = 0;
  std::vector<double> sizes;  // above 0, each once
};

void check(const BetaRange& range, int steps) {
  if (steps < 1) throw UsageError("a schedule needs at least one step");
  if (!(range.first > 0 && range.first <= range.last && std::isfinite(range.last))) {
    throw UsageError(
        "a schedule goes from a first beta above 0 to a last one that is not below "
        "it; these are " +
        std::to_string(range.first) + " and " + std::to_string(range.last));
  }
}

template <class At>
std::vector<double> spaced(const BetaRange& range, int steps, At at) {
  check(range, steps);
  std::vector<double> betas;
  for (int k = 0; k < steps; ++k) {
    const bool last = k + 1 == steps;
    betas.push_back(last ? range.last : at(k / static_cast<double>(steps - 1)));
  }
  return betas;
}

void add_sizes(const Target& target, Symbol* x, bool counts_for_largest, Changes& changes) {
  Neighbourhood around(target, x);
  std::vector<double> sizes;
  for (int i = 0; i < target.domain().dim(); ++i) {
    for (const double d : around.differences(i)) {
      if (d != 0 && std::isfinite(d)) sizes.push_back(std::abs(d));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (counts_for_largest && !sizes.empty()) {
    changes.largest = std::max(changes.largest, sizes.back());
  }
  changes.sizes.insert(changes.sizes.end(), sizes.begin(), sizes.end());
}

Changes changes_from(const Target& target, const Stream& stream) {
  const Domain& domain = target.domain();
  std::vector<Symbol> x(static_cast<std::size_t>(padded(domain.dim())));
  if (const Constraint* constraint = target.constraint()) constraint->draw(stream, x.data());
  for (int i = 0; i < domain.dim() && !target.constraint(); ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<Symbol>(
        stream.word(static_cast<std::uint32_t>(i)) * std::uint64_t(domain.levels(i)) >> 32);
  }
  Changes changes;
  add_sizes(target, x.data(), true, changes);
  greedy_ascent(target, x.data());
  add_sizes(target, x.data(), false, changes);
  return changes;
}

}  // namespace

BetaRange default_range(const Target& target, std::uint64_t seed, int threads) {
  const int states = target.local_moves() ? kStates : kFewStates;
  std::vector<Changes> all(static_cast<std::size_t>(states));
  ThreadPool pool(useful_threads(threads, states));
  pool.for_each(states, [&](int s, int) {
    all[static_cast<std::size_t>(s)] = changes_from(
        target, Stream(seed, kRangeChains + static_cast<std::uint32_t>(s), 0, Purpose::start));
  });
  double largest = 0, smallest = INFINITY;
  for (const Changes& c : all) largest = std::max(largest, c.largest);
  for (const Changes& c : all) {
    for (const double size : c.sizes) {
      if (size > kSmallest * largest) smallest = std::min(smallest, size);
    }
  }
  if (!(largest > 0)) {
    throw DataError("log p of the model " + target.name() +
                    " does not change with any coordinate: there is nothing to search");
  }
  const double first = std::log(2.0) / largest;
  return {first, std::max(first, std::log(100.0 * target.domain().dim()) / smallest)};
}

std::vector<double> linear_schedule(const BetaRange& range, int steps) {
  return spaced(range, steps,
                [&](double part) { return range.first + (range.last - range.first) * part; });
}

std::vector<double> geometric_schedule(const BetaRange& range, int steps) {
  return spaced(range, steps, [&](double part) {
    return range.first * std::pow(range.last / range.first, part);
  });
}

std::vector<double> adaptive_schedule(std::span<const double> pilot,
                                      std::span<const double> mean_logp, int steps) {
  if (pilot.empty() || pilot.size() != mean_logp.size()) {
    throw UsageError("a pilot needs a mean of log p for each of its betas");
  }
  constexpr double kLeast = 1e-9;  // so that the length always grows
  std::vector<double> length{0};
  double mean = mean_logp[0];
  for (std::size_t q = 1; q < pilot.size(); ++q) {
    const double next = std::max(mean, mean_logp[q]);
    length.push_back(length.back() + std::sqrt((next - mean) * (pilot[q] - pilot[q - 1])) + kLeast);
    mean = next;
  }
  std::size_t q = 1;
  return spaced({pilot.front(), pilot.back()}, steps, [&](double part) {
    const double at = length.back() * part;
    while (q + 1 < pilot.size() && length[q] < at) ++q;
    if (q == pilot.size()) return pilot.back();
    const double within = (at - length[q - 1]) / (length[q] - length[q - 1]);
    return pilot[q - 1] + within * (pilot[q] - pilot[q - 1]);
  });
}

}  // namespace saltus
