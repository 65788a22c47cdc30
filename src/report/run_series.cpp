#include "report/run_series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "diagnose/columns/column_reader.hpp"
#include "diagnose/columns/lag_sums.hpp"

namespace saltus::report {
namespace {

constexpr std::size_t kWindows = 100;
constexpr std::size_t kHeld = 20'000'000;
constexpr std::size_t kLags = 200;

std::size_t window_for(std::size_t draws) {
  return std::max<std::size_t>(1, (draws + kWindows - 1) / kWindows);
}

// Means over windows of numbers that arrive one after the other.
class WindowMeans {
 public:
  explicit WindowMeans(std::size_t window) : window_(window) {}
  void add(double value) {
    sum_ += value;
    if (++count_ == window_) end_window();
  }
  std::vector<double> finish() {
    if (count_ > 0) end_window();
    return std::move(means_);
  }

 private:
  void end_window() {
    means_.push_back(sum_ / static_cast<double>(count_));
    sum_ = 0;
    count_ = 0;
  }

  std::size_t window_, count_ = 0;
  double sum_ = 0;
  std::vector<double> means_;
};

// of_class -1: the number that the level stands for.
double value_of(const DrawsInfo& info, Symbol level, int of_class) {
  return of_class < 0 ? info.first_value + info.spacing * level : level == of_class;
}

// Chains, and draws of each.
std::pair<int, std::size_t> as_many_as_fit(const Draws& draws) {
  const std::size_t length = std::min(draws.draws(), kHeld);
  const std::size_t chains = kHeld / std::max<std::size_t>(1, length);
  return {static_cast<int>(std::min(static_cast<std::size_t>(draws.chains()), chains)), length};
}

double mean_of_all(const Chains& chains, std::vector<double>& buffer) {
  double sum = 0;
  for (int c = 0; c < chains.chains; ++c) {
    chains.read(c, buffer);
    double of_chain = 0;
    for (const double v : buffer) of_chain += v;
    sum += of_chain;
  }
  return sum / (static_cast<double>(chains.chains) * static_cast<double>(chains.draws));
}

}  // namespace

Columns read_columns(const Draws& draws, const std::vector<int>& coordinates, int chains,
                     const std::vector<int>& classes) {
  const DrawsInfo& info = draws.info();
  Columns columns;
  columns.window = window_for(draws.draws());
  columns.means.resize(coordinates.size());
  columns.counts.assign(coordinates.size(),
                        std::vector<std::uint64_t>(static_cast<std::size_t>(info.levels)));
  const ColumnReader reader(draws, coordinates);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    std::vector<WindowMeans> means(coordinates.size(), WindowMeans(columns.window));
    reader.read(chain, 0, draws.draws(), [&](std::size_t, Rows<const Symbol> x) {
      for (std::size_t i = 0; i < coordinates.size(); ++i) {
        for (const Symbol level : x.row(static_cast<int>(i))) {
          ++columns.counts[i][level];
          if (chain < chains) {
            means[i].add(value_of(info, level, classes.empty() ? -1 : classes[i]));
          }
        }
      }
    });
    if (chain >= chains) continue;
    for (std::size_t i = 0; i < means.size(); ++i) {
      columns.means[i].push_back(means[i].finish());
    }
  }
  return columns;
}

std::vector<double> acceptance_means(const Draws& draws, int chain, std::size_t window) {
  std::vector<float> rates(draws.draws());
  draws.read_acceptance(chain, 0, rates);
  WindowMeans means(window);
  for (const float rate : rates) means.add(rate);
  return means.finish();
}

Series over_windows(std::span<const double> values, std::size_t window) {
  Series series;
  for (std::size_t first = 0; first < values.size(); first += window) {
    const auto part = values.subspan(first, std::min(window, values.size() - first));
    const auto [low, high] = std::minmax_element(part.begin(), part.end());
    double sum = 0;
    for (const double v : part) sum += v;
    series.x.push_back(static_cast<double>(first) + static_cast<double>(part.size() + 1) / 2);
    series.y.push_back(sum / static_cast<double>(part.size()));
    series.low.push_back(*low);
    series.high.push_back(*high);
  }
  return series;
}

std::vector<double> read_logp(const Draws& draws, int chain) {
  std::vector<double> logp(draws.draws());
  draws.read_logp(chain, 0, logp);
  return logp;
}

Chains held_column(const Draws& draws, int coordinate, int of_class) {
  const auto [chains, length] = as_many_as_fit(draws);
  auto levels = std::make_shared<std::vector<Symbol>>();
  const ColumnReader reader(draws, {coordinate});
  for (int chain = 0; chain < chains; ++chain) {
    reader.read(chain, 0, length, [&](std::size_t, Rows<const Symbol> x) {
      levels->insert(levels->end(), x.row(0).begin(), x.row(0).end());
    });
  }
  return {
      chains, length,
      [levels, length = length, &info = draws.info(), of_class](int chain, std::span<double> out) {
        const auto* from = levels->data() + static_cast<std::size_t>(chain) * length;
        std::transform(from, from + out.size(), out.begin(),
                       [&](Symbol level) { return value_of(info, level, of_class); });
      }};
}

Chains logp_chains(const Draws& draws) {
  const auto [chains, length] = as_many_as_fit(draws);
  return {chains, length,
          [&draws](int chain, std::span<double> out) { draws.read_logp(chain, 0, out); }};
}

std::vector<double> autocorrelation(const Chains& chains, std::span<const std::size_t> lags) {
  std::vector<double> buffer(chains.draws), products(lags.size());
  const double mean = mean_of_all(chains, buffer);
  double squares = 0;
  for (int c = 0; c < chains.chains; ++c) {
    chains.read(c, buffer);
    for (double& v : buffer) v -= mean;
    add_lag_sums(buffer, 0, std::span(&squares, 1));
    for (std::size_t k = 0; k < lags.size(); ++k) {
      add_lag_sums(buffer, lags[k], std::span(&products[k], 1));
    }
  }
  const auto n = static_cast<double>(chains.draws);
  for (std::size_t k = 0; k < lags.size(); ++k) {
    products[k] = squares > 0 ? products[k] / squares * n / (n - static_cast<double>(lags[k]))
                              : std::numeric_limits<double>::quiet_NaN();
  }
  return products;
}

std::vector<std::size_t> lags_for(double correlation_time, std::size_t draws) {
  if (draws < 2) return {0};
  const double wanted = std::isfinite(correlation_time) ? 4 * correlation_time : 0;
  const auto longest = static_cast<std::size_t>(
      std::clamp(wanted, std::min(40.0, static_cast<double>(draws - 1)),
                 static_cast<double>(std::max(draws / 2, std::min<std::size_t>(40, draws - 1)))));
  const std::size_t stride = std::max<std::size_t>(1, (longest + kLags - 1) / kLags);
  std::vector<std::size_t> lags;
  for (std::size_t lag = 0; lag <= longest; lag += stride) lags.push_back(lag);
  return lags;
}

}  // namespace saltus::report
