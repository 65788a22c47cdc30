#include "cli/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/text.hpp"
#include "saltus/diagnose/chains.hpp"

namespace saltus::cli {
namespace {

constexpr std::size_t kMostKept = 1000;     // values of a chain
constexpr std::size_t kMostDiagnosed = 64;  // chains
constexpr std::size_t kMostLines = 8;       // chains with a line of their own
constexpr std::size_t kNumbers = 28;        // characters before a bar
constexpr std::size_t kLongestBar = 60;

std::size_t place_in(double value, double low, double high, std::size_t width) {
  if (!(high > low)) return width / 2;
  const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return static_cast<std::size_t>(share * static_cast<double>(width - 1) + 0.5);
}

}  // namespace

void Watch::record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) {
  for (int r = 0; r < tile.rows(); ++r) {
    Chain& c = chains_[tile.first_slot + static_cast<std::size_t>(r)];
    c.last = tile.logp[r];
    if (c.draws++ % c.every != 0) continue;
    c.kept.push_back(c.last);
    if (c.kept.size() < kMostKept) continue;
    for (std::size_t k = 0; 2 * k < c.kept.size(); ++k) c.kept[k] = c.kept[2 * k];
    c.kept.resize((c.kept.size() + 1) / 2);
    c.every *= 2;
  }
}

std::string Watch::quality() const {
  const std::size_t count = std::min(chains_.size(), kMostDiagnosed);
  std::size_t length = kMostKept;
  for (std::size_t c = 0; c < count; ++c) length = std::min(length, chains_[c].kept.size());
  const Chains chains = {static_cast<int>(count), length, [this](int chain, std::span<double> out) {
                           std::copy_n(chains_[static_cast<std::size_t>(chain)].kept.begin(),
                                       out.size(), out.begin());
                         }};
  return fmt::format("log p so far: ESS {}, R-hat {}{}", rounded(ess_mean(chains)),
                     fixed(split_rhat(chains), 4),
                     count < chains_.size() ? fmt::format(" (of {} chains)", count) : "");
}

std::vector<std::string> Watch::lines(std::size_t width, std::size_t height) const {
  if (chains_.empty() || chains_[0].draws == 0) return {"log p is shown once draws are made"};
  std::vector<std::string> lines = {quality()};
  // Beside this line there are three above, one below and one to spare.
  const std::size_t room = height > 6 ? height - 6 : 0;
  const std::size_t shown = std::min({chains_.size(), kMostLines, room});
  double low = INFINITY, high = -INFINITY;
  for (std::size_t c = 0; c < shown; ++c) {
    const auto [least, most] = std::ranges::minmax(chains_[c].kept);
    low = std::min(low, least), high = std::max(high, most);
  }
  for (std::size_t k = 0; k < shown; ++k) {
    const Chain& c = chains_[k];
    lines.push_back(fmt::format("chain {:<4} log p {:>11}", k, short_number(c.last)));
    if (width < kNumbers + 12) continue;
    const std::size_t size = std::min(kLongestBar, width - kNumbers - 4);
    const auto [least, most] = std::ranges::minmax(c.kept);
    std::string bar(size, ' ');
    const std::size_t from = place_in(least, low, high, size), to = place_in(most, low, high, size);
    std::fill(bar.begin() + static_cast<std::ptrdiff_t>(from),
              bar.begin() + static_cast<std::ptrdiff_t>(to) + 1, '-');
    bar[place_in(c.last, low, high, size)] = '#';
    lines.back() += " [" + bar + "]";
  }
  if (shown < chains_.size()) {
    lines.push_back(fmt::format("and {} more chains", count(chains_.size() - shown)));
  }
  return lines;
}

}  // namespace saltus::cli
