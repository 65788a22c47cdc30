#include "reproduce/data/regression_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

struct Range {
  double low, high;
};

// Of every column, over the first `rows` rows.
std::vector<Range> ranges(const std::vector<double>& x, std::size_t columns, std::size_t rows) {
  std::vector<Range> range(columns, {INFINITY, -INFINITY});
  const double* value = x.data();
  for (std::size_t r = 0; r < rows; ++r) {
    for (Range& c : range) {
      c.low = std::min(c.low, *value);
      c.high = std::max(c.high, *value++);
    }
  }
  return range;
}

// Brings every column to [0, 1]; a constant one becomes 0.
void scale_to_unit(std::vector<double>& x, std::size_t columns) {
  const std::vector<Range> range = ranges(x, columns, x.size() / columns);
  for (std::size_t begin = 0; begin < x.size(); begin += columns) {
    for (std::size_t j = 0; j < columns; ++j) {
      double& value = x[begin + j];
      const auto [low, high] = range[j];
      value = low < high ? (value - low) / (high - low) : 0;
    }
  }
}

struct Standard {
  double mean = 0, deviation = 0;
};

// Of every column, over the first `rows` rows. Where they are all equal, the deviation is 1 and the
// mean exactly their value: rounding would make it a difference to divide by.
std::vector<Standard> standards(const std::vector<double>& x, std::size_t columns,
                                std::size_t rows) {
  std::vector<Standard> standard(columns);
  const double* value = x.data();
  for (std::size_t r = 0; r < rows; ++r) {
    for (Standard& c : standard) c.mean += *value++;
  }
  for (Standard& c : standard) c.mean /= static_cast<double>(rows);
  value = x.data();
  for (std::size_t r = 0; r < rows; ++r) {
    for (Standard& c : standard) {
      const double difference = *value++ - c.mean;
      c.deviation += difference * difference;
    }
  }
  const std::vector<Range> range = ranges(x, columns, rows);
  for (std::size_t j = 0; j < columns; ++j) {
    Standard& c = standard[j];
    c.deviation = std::sqrt(c.deviation / static_cast<double>(rows - 1));
    if (range[j].low == range[j].high) c = {range[j].low, 1};
  }
  return standard;
}

RegressionRows standardised(const RegressionTable& table, const std::vector<Standard>& standard,
                            std::size_t begin, std::size_t end) {
  const std::size_t columns = standard.size();
  RegressionRows rows;
  rows.features = static_cast<int>(columns);
  rows.x.reserve((end - begin) * columns);
  const double* value = table.x.data() + begin * columns;
  for (std::size_t r = begin; r < end; ++r) {
    for (const Standard& c : standard) {
      rows.x.push_back(static_cast<float>((*value++ - c.mean) / c.deviation));
    }
    rows.y.push_back(static_cast<float>(table.y[r]));
  }
  return rows;
}

}  // namespace

RegressionSet prepare(const std::string& name, RegressionTable table) {
  // The product is rounded as in the program that published it.
  const auto kept = static_cast<std::size_t>(0.99 * static_cast<double>(table.train));
  if (kept < 2 || table.train >= table.y.size()) {
    throw DataError(fmt::format("the data set {} has {} rows, too few to learn from and to test",
                                name, table.y.size()));
  }
  const std::size_t columns = table.columns.size();
  scale_to_unit(table.x, columns);
  scale_to_unit(table.y, 1);
  const std::vector<Standard> standard = standards(table.x, columns, kept);
  RegressionSet set;
  set.name = name;
  set.train = standardised(table, standard, 0, kept);
  set.test = standardised(table, standard, table.train, table.y.size());
  set.columns = std::move(table.columns);
  return set;
}

double coded(const CsvReader& in, std::size_t field, const ColumnSource& source) {
  if (source.words.empty()) return in.number(field);
  const auto found = std::find(source.words.begin(), source.words.end(), in.fields()[field]);
  if (found == source.words.end()) {
    in.refuse(in.unexpected(field, fmt::format("one of {}", fmt::join(source.words, ", "))));
  }
  return static_cast<double>(found - source.words.begin());
}

void spread_words(const std::vector<ColumnSource>& sources, const std::vector<double>& codes,
                  RegressionTable& table) {
  const std::size_t rows = codes.size() / sources.size();
  const std::vector<Range> range = ranges(codes, sources.size(), rows);
  std::vector<std::size_t> widths(sources.size(), 1);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const auto& [name, words] = sources[s];
    if (words.empty()) table.columns.push_back(name);
    if (words.empty() || rows == 0) continue;
    widths[s] = static_cast<std::size_t>(range[s].high) + 1;
    for (std::size_t w = 0; w < widths[s]; ++w) table.columns.push_back(name + "=" + words[w]);
  }
  table.x.assign(rows * table.columns.size(), 0);
  double* x = table.x.data();
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::size_t s = i % sources.size();
    if (sources[s].words.empty()) {
      *x = codes[i];
    } else {
      x[static_cast<std::size_t>(codes[i])] = 1;
    }
    x += widths[s];
  }
}

std::vector<double> reordered(const std::vector<double>& from, std::size_t columns,
                              const std::vector<std::int32_t>& order) {
  std::vector<double> to(order.size() * columns);
  double* out = to.data();
  for (const std::int32_t row : order) {
    out = std::copy_n(from.data() + static_cast<std::size_t>(row) * columns, columns, out);
  }
  return to;
}

}  // namespace saltus
