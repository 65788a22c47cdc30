#include "saltus/diagnose/summary.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/columns/column_reader.hpp"
#include "diagnose/columns/passing_column.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/parallel.hpp"

namespace saltus {
namespace {

// What passing columns may need. With many chains their counts alone are more than the least; as
// many passes as chains fit into that would take time that grows with the square of the chains.
constexpr std::size_t kLeastPassBytes = std::size_t{32} << 20,
                      kMostPassBytes = std::size_t{1} << 30;
constexpr std::size_t kBytesOfPair = 48;  // a chain, a column: counts of few levels in two halves
constexpr std::size_t kShortChain = 256;  // draws: reading them takes longer than the work on them
constexpr std::size_t kFewEntries = std::size_t{1} << 14;   // not worth waking threads for
constexpr std::size_t kHeldEntries = std::size_t{4} << 20;  // symbols held at a time

struct NumberedColumn {
  int number;
  PassingColumn column;
};

using Columns = std::vector<NumberedColumn*>;

std::vector<int> numbers_of(const Columns& columns) {
  std::vector<int> numbers;
  for (const NumberedColumn* c : columns) numbers.push_back(c->number);
  return numbers;
}

std::size_t pass_bytes(const Draws& draws) {
  const std::size_t pairs =
      static_cast<std::size_t>(draws.chains()) * static_cast<std::size_t>(draws.dim());
  return std::clamp(kBytesOfPair * pairs, kLeastPassBytes, kMostPassBytes);
}

// One read for both halves and what is between them.
void show_short_chain(const ColumnReader& reader, const Columns& columns, int chain,
                      std::size_t draws) {
  const std::size_t length = draws / 2;
  reader.read(chain, 0, draws, [&](std::size_t, Rows<const Symbol> x) {
    for (int i = 0; i < x.rows; ++i) {
      PassingColumn& column = columns[static_cast<std::size_t>(i)]->column;
      const std::span<const Symbol> row = x.row(i);
      if (length > 0) column.add(2 * chain, row.first(length), true);
      if (draws % 2 == 1) column.add_middle(row[length]);
      if (length > 0) column.add(2 * chain + 1, row.last(length), true);
    }
  });
}

// Shows all draws to the columns.
void pass(const Draws& draws, const Columns& columns, ThreadPool& pool) {
  const ColumnReader reader(draws, numbers_of(columns));
  const std::size_t length = draws.draws() / 2;
  const auto read_half = [&](int half, std::size_t first) {
    reader.read(half / 2, first, length, [&](std::size_t draw, Rows<const Symbol> x) {
      const bool last = draw + static_cast<std::size_t>(x.cols) == first + length;
      const auto add = [&](int i, int) {
        columns[static_cast<std::size_t>(i)]->column.add(half, x.row(i), last);
      };
      if (static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(x.cols) >= kFewEntries) {
        pool.for_each(x.rows, add);
      } else {
        for (int i = 0; i < x.rows; ++i) add(i, 0);
      }
    });
  };
  for (NumberedColumn* c : columns) c->column.begin_pass();
  for (int chain = 0; chain < draws.chains(); ++chain) {
    if (draws.draws() <= reader.at_once() && draws.draws() < kShortChain) {
      show_short_chain(reader, columns, chain, draws.draws());
      continue;
    }
    read_half(2 * chain, 0);
    reader.read(chain, length, draws.draws() % 2, [&](std::size_t, Rows<const Symbol> x) {
      for (int i = 0; i < x.rows; ++i) {
        columns[static_cast<std::size_t>(i)]->column.add_middle(x[i][0]);
      }
    });
    read_half(2 * chain + 1, draws.draws() - length);
  }
  for (NumberedColumn* c : columns) c->column.end_pass();
}

// As many open columns as fit into memory during a pass, but at least one if there is any.
Columns next_columns(std::vector<NumberedColumn>& all, std::size_t most_bytes) {
  Columns next;
  std::size_t bytes = 0;
  for (NumberedColumn& c : all) {
    if (!c.column.open()) continue;
    bytes += c.column.bytes_of_pass();
    if (!next.empty() && bytes > most_bytes) break;
    next.push_back(&c);
  }
  return next;
}

// How the classes of a run are summarised.
struct Classes {
  const DrawsInfo& info;
  int most;  // listed of a coordinate; 0: the levels are ordered

  explicit Classes(const Draws& draws)
      : info(draws.info()), most(has_classes(info) ? most_classes(info, draws.dim()) : 0) {}
  int of(int column) const {
    if (most == 0) return 0;
    return info.classes[info.classes.size() == 1 ? 0 : static_cast<std::size_t>(column)];
  }
  // Indicators whose sizes a column is asked for. Two levels are their own indicators.
  std::size_t asked(int column) const {
    return of(column) != 2 ? static_cast<std::size_t>(most) : 0;
  }
  // Throws DataError when a column has draws beyond its classes.
  void check(int column, const LevelCounts& counts) const {
    if (most == 0) return;
    const std::vector<std::size_t> all = counts.of_all();
    for (auto k = static_cast<std::size_t>(of(column)); k < all.size(); ++k) {
      if (all[k] == 0) continue;
      throw DataError("coordinate " + std::to_string(column) + " has draws at level " +
                      std::to_string(k) + ", but only " + std::to_string(of(column)) + " classes");
    }
  }
};

// The classes whose sizes were asked for and, where there is room, those that never occur.
std::vector<ClassSummary> class_summaries(const PassingColumn& column, int levels, int most) {
  const std::vector<std::size_t> counts = column.counts().of_all();
  const auto all =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  std::vector<ClassSummary> list;
  for (const PassingColumn::Class& c : column.classes()) {
    const double p = static_cast<double>(counts[c.level]) / all;
    const double sd = std::sqrt(p * (1 - p) * all / (all - 1));
    list.push_back({static_cast<int>(c.level), p, sd / std::sqrt(c.ess), c.ess, c.rhat});
  }
  for (int k = 0; levels <= most && k < levels; ++k) {
    const auto level = static_cast<std::size_t>(k);
    if (level >= counts.size() || counts[level] == 0) list.push_back({k, 0, NAN, NAN, NAN});
  }
  std::ranges::sort(list, {}, &ClassSummary::level);
  return list;
}

// In place of what ranks and means of indices say.
void use_classes(std::vector<ClassSummary> classes, CoordinateSummary& s) {
  std::vector<double> ess, rhat;
  for (const ClassSummary& c : classes) ess.push_back(c.ess), rhat.push_back(c.rhat);
  s.mcse = s.ess_tail = NAN;
  s.ess_bulk = least(std::move(ess));
  s.rhat = largest(std::move(rhat));
  s.classes = std::move(classes);
}

CoordinateSummary summary_of(const PassingColumn& column, int number, const Classes& classes,
                             const Draws& draws) {
  classes.check(number, column.counts());
  CoordinateSummary s;
  const LevelMoments moments = level_moments(column.counts());
  s.mean = draws.info().first_value + draws.info().spacing * moments.mean;
  s.sd = std::abs(draws.info().spacing) * moments.sd;
  if (classes.asked(number) > 0) {
    use_classes(class_summaries(column, classes.of(number), classes.most), s);
    return s;
  }
  s.rhat = draws.draws() < 4 ? NAN : rhat(column.counts());
  s.ess_bulk = column.ess_bulk();
  s.ess_tail = column.ess_tail();
  s.mcse = s.sd / std::sqrt(column.ess_mean());
  if (classes.most > 0) {
    const double mcse = moments.sd / std::sqrt(column.ess_mean());
    s.classes = {{0, 1 - moments.mean, mcse, s.ess_bulk, s.rhat},
                 {1, moments.mean, mcse, s.ess_bulk, s.rhat}};
  }
  return s;
}

// Chains that mix too slowly for direct sums are held in memory for Fourier transforms.
void answer_slow(const Draws& draws, std::vector<NumberedColumn>& all, ThreadPool& pool) {
  const std::size_t per_column = draws.draws() * static_cast<std::size_t>(draws.chains());
  const std::size_t at_once = std::max<std::size_t>(1, kHeldEntries / per_column);
  for (;;) {
    Columns slow;
    for (NumberedColumn& c : all) {
      if (c.column.slow() && slow.size() < at_once) slow.push_back(&c);
    }
    if (slow.empty()) return;
    const HeldColumns held(draws, numbers_of(slow));
    pool.for_each(static_cast<int>(slow.size()), [&](int i, int) {
      slow[static_cast<std::size_t>(i)]->column.answer_slow(held.chains(i));
    });
  }
}

// A bound for the levels that occur. Where the model allows very many, the draws say more.
std::size_t levels_of(const Draws& draws) {
  if (draws.info().levels <= 256) return static_cast<std::size_t>(draws.info().levels);
  std::vector<int> columns(static_cast<std::size_t>(draws.dim()));
  std::iota(columns.begin(), columns.end(), 0);
  const ColumnReader reader(draws, std::move(columns));
  Symbol largest = 1;
  for (int chain = 0; chain < draws.chains(); ++chain) {
    reader.read(chain, 0, draws.draws(), [&](std::size_t, Rows<const Symbol> x) {
      for (int i = 0; i < x.rows; ++i) {
        for (const Symbol level : x.row(i)) largest = std::max(largest, level);
      }
    });
  }
  return std::size_t{largest} + 1;
}

// How many columns have room for what they keep between passes.
int columns_at_once(const Draws& draws, std::size_t levels, int most_classes) {
  constexpr std::size_t kOther = std::size_t{4} << 10, kOfClass = std::size_t{1} << 10;
  // Counts of the half chains and of the middle draws, and the functions whose sizes are asked for.
  const auto classes = static_cast<std::size_t>(most_classes);
  const std::size_t tables = 2 * static_cast<std::size_t>(draws.chains()) + 5 + classes;
  const std::size_t bytes = kOther + kOfClass * classes + tables * levels * sizeof(double);
  return static_cast<int>(
      std::clamp<std::size_t>(pass_bytes(draws) / bytes, 1, static_cast<std::size_t>(draws.dim())));
}

// Passes over the draws until no column needs another.
void pass_until_closed(const Draws& draws, std::vector<NumberedColumn>& group, ThreadPool& pool) {
  Columns columns;
  for (NumberedColumn& c : group) columns.push_back(&c);
  while (!columns.empty()) {
    pass(draws, columns, pool);
    columns = next_columns(group, pass_bytes(draws));
  }
}

std::vector<double> without_nan(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  return values;
}

}  // namespace

bool has_classes(const DrawsInfo& info) {
  return !info.classes.empty() && std::ranges::max(info.classes) > 2;
}

int most_classes(const DrawsInfo& info, int dim) {
  constexpr int kMostListed = 64, kFew = 10;
  constexpr int kKept = 1 << 22;  // classes of all coordinates: some 160 MB
  const int most = info.levels > kMostListed ? kFew : info.levels;
  return std::clamp(kKept / std::max(1, dim), 1, std::max(1, most));
}

std::vector<CoordinateSummary> summarise(const Draws& draws, bool tails, int threads) {
  constexpr int kMostChains = INT_MAX / 2;  // half chains are counted
  if (draws.chains() > kMostChains) {
    throw DataError("draws of more than 2^30 - 1 chains cannot be summarised");
  }
  std::vector<CoordinateSummary> all(static_cast<std::size_t>(draws.dim()));
  if (draws.draws() == 0)
    return std::vector(all.size(), CoordinateSummary{NAN, NAN, NAN, NAN, NAN, NAN});
  ThreadPool pool(threads);
  const std::size_t levels = levels_of(draws);
  const Classes classes(draws);
  const int at_once = columns_at_once(draws, levels, classes.most);
  for (int first = 0; first < draws.dim(); first += at_once) {
    std::vector<NumberedColumn> group;
    for (int c = first; c < std::min(draws.dim(), first + at_once); ++c) {
      group.push_back(
          {c, PassingColumn(draws.chains(), draws.draws(), levels, tails, classes.asked(c))});
    }
    pass_until_closed(draws, group, pool);
    answer_slow(draws, group, pool);
    for (const auto& [number, column] : group) {
      all[static_cast<std::size_t>(number)] = summary_of(column, number, classes, draws);
    }
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
