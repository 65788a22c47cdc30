#include "saltus/diagnose/summary.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/parallel.hpp"
#include "saltus/diagnose/ess.hpp"
#include "saltus/diagnose/rhat.hpp"

namespace saltus {
namespace {

constexpr std::size_t kGroupEntries = std::size_t{8} << 20;  // symbols held at a time
constexpr std::size_t kReadEntries = std::size_t{1} << 20;   // symbols read at a time

// Columns [first, first + count) of all chains, each column contiguous by chain and draw.
class ColumnGroup {
 public:
  ColumnGroup(const Draws& draws, int first, int count)
      : length_(draws.draws()), chains_(draws.chains()) {
    columns_.resize(static_cast<std::size_t>(count) * length_ * static_cast<std::size_t>(chains_));
    const std::size_t dim = static_cast<std::size_t>(draws.dim());
    const std::size_t rows = std::clamp<std::size_t>(kReadEntries / dim, 1, length_);
    const RowBuffer<Symbol> buffer(static_cast<int>(rows), draws.dim());
    for (int chain = 0; chain < chains_; ++chain) {
      for (std::size_t t = 0; t < length_; t += rows) {
        Rows<Symbol> x = buffer.view();
        x.rows = static_cast<int>(std::min(rows, length_ - t));
        draws.read_states(chain, t, x);
        for (int c = 0; c < count; ++c) {
          Symbol* out = column(c, chain) + t;
          for (int r = 0; r < x.rows; ++r) out[r] = x[r][first + c];
        }
      }
    }
  }

  Symbol* column(int c, int chain) {
    const auto row = static_cast<std::size_t>(c) * static_cast<std::size_t>(chains_) +
                     static_cast<std::size_t>(chain);
    return columns_.data() + row * length_;
  }

  // One column as chains of values.
  Chains chains(int c, const DrawsInfo& info) {
    return {chains_, length_, [this, c, &info](int chain, std::span<double> out) {
              const Symbol* x = column(c, chain);
              for (std::size_t t = 0; t < length_; ++t) {
                out[t] = info.first_value + info.spacing * x[t];
              }
            }};
  }

 private:
  std::size_t length_;
  int chains_;
  std::vector<Symbol> columns_;
};

CoordinateSummary summary_of(const Chains& chains, bool tails) {
  CoordinateSummary s;
  double sum = 0, square = 0;
  const double n = static_cast<double>(chains.draws) * chains.chains;
  std::vector<double> x(chains.draws);
  for (int c = 0; c < chains.chains; ++c) {
    chains.read(c, x);
    for (double v : x) {
      sum += v;
      square += v * v;
    }
  }
  s.mean = sum / n;
  s.sd = std::sqrt(std::max(0.0, (square - sum * s.mean) / (n - 1)));
  s.ess_bulk = ess_bulk(chains);
  s.ess_tail = tails ? ess_tail(chains) : NAN;
  s.rhat = rhat(chains);
  s.mcse = s.sd / std::sqrt(s.ess_bulk);
  return s;
}

std::vector<double> without_nan(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  return values;
}

}  // namespace

std::vector<CoordinateSummary> summarise(const Draws& draws, bool tails, int threads) {
  std::vector<CoordinateSummary> all(static_cast<std::size_t>(draws.dim()));
  if (draws.draws() == 0)
    return std::vector(all.size(), CoordinateSummary{NAN, NAN, NAN, NAN, NAN, NAN});
  const std::size_t per_column = draws.draws() * static_cast<std::size_t>(draws.chains());
  const int group = static_cast<int>(std::clamp<std::size_t>(
      kGroupEntries / per_column, 1, static_cast<std::size_t>(draws.dim())));
  ThreadPool pool(threads);
  for (int first = 0; first < draws.dim(); first += group) {
    const int count = std::min(group, draws.dim() - first);
    ColumnGroup columns(draws, first, count);
    pool.for_each(count, [&](int c, int) {
      all[static_cast<std::size_t>(first + c)] = summary_of(columns.chains(c, draws.info()), tails);
    });
  }
  return all;
}

double least(std::vector<double> values) {
  values = without_nan(std::move(values));
  return values.empty() ? NAN : *std::min_element(values.begin(), values.end());
}

double largest(std::vector<double> values) {
  values = without_nan(std::move(values));
  return values.empty() ? NAN : *std::max_element(values.begin(), values.end());
}

double median(std::vector<double> values) {
  values = without_nan(std::move(values));
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

}  // namespace saltus
