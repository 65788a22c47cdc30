// UCI BlogFeedback: how many comments will a post get within a day?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/data/regression_table.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kBlogFeatures = 280;
constexpr std::size_t kFirst[] = {50, 51, 52, 53, 55, 56, 57, 58};  // columns that are put first
constexpr double kMostComments = 1e9;

// The 90th percentile, between two of the numbers where it does not fall on one.
double percentile_90(std::vector<double> numbers) {
  const double at = 0.9 * static_cast<double>(numbers.size() - 1);
  const double low = std::floor(at);
  const auto nth = numbers.begin() + static_cast<std::ptrdiff_t>(low);
  std::nth_element(numbers.begin(), nth, numbers.end());
  if (nth + 1 == numbers.end()) return *nth;
  const double next = *std::min_element(nth + 1, numbers.end());
  return *nth + (next - *nth) * (at - low);
}

// The columns in their final order: those of kFirst, then the others that are not constant.
std::vector<std::size_t> used_columns(const std::vector<double>& x) {
  std::vector<std::size_t> used(std::begin(kFirst), std::end(kFirst));
  std::vector<bool> varies(kBlogFeatures, false);
  for (std::size_t begin = kBlogFeatures; begin < x.size(); begin += kBlogFeatures) {
    for (std::size_t column = 0; column < kBlogFeatures; ++column) {
      if (x[begin + column] != x[column]) varies[column] = true;
    }
  }
  for (std::size_t column = 0; column < kBlogFeatures; ++column) {
    const bool first = std::find(std::begin(kFirst), std::end(kFirst), column) != std::end(kFirst);
    if (varies[column] && !first) used.push_back(column);
  }
  return used;
}

}  // namespace

void BlogTable::add(CsvReader& in) {
  while (in.next(kBlogFeatures + 1)) {
    for (std::size_t i = 0; i < kBlogFeatures; ++i) x_.push_back(in.number(i));
    const double comments = in.number(kBlogFeatures);
    if (comments < 0 || comments > kMostComments || comments != std::floor(comments)) {
      in.refuse(in.unexpected(kBlogFeatures, "a number of comments"));
    }
    y_.push_back(comments);
  }
}

void BlogTable::add_train(CsvReader& in) {
  if (train_ != y_.size()) throw DataError("rows to learn from come before those to test");
  add(in);
  train_ = y_.size();
}

void BlogTable::add_test(CsvReader& in) {
  add(in);
}

void BlogTable::drop_rows_above(double limit) {
  std::size_t kept = 0, train = 0;
  for (std::size_t r = 0; r < y_.size(); ++r) {
    if (y_[r] > limit) continue;
    if (kept < r) std::copy_n(&x_[r * kBlogFeatures], kBlogFeatures, &x_[kept * kBlogFeatures]);
    y_[kept++] = y_[r];
    if (r < train_) ++train;
  }
  x_.resize(kept * kBlogFeatures);
  y_.resize(kept);
  train_ = train;
}

RegressionTable BlogTable::finish(bool wrapped_target) {
  if (y_.empty()) throw DataError("the data set blog has no rows");
  if (wrapped_target) {
    for (double& comments : y_) comments = std::fmod(comments, 256);
  }
  drop_rows_above(percentile_90(y_));
  RegressionTable table;
  const std::vector<std::size_t> used = used_columns(x_);
  for (const std::size_t column : used) table.columns.push_back(fmt::format("column {}", column));
  // In place: a row moves to the front, behind rows that have moved before.
  std::vector<double> row(kBlogFeatures);
  for (std::size_t r = 0; r < y_.size(); ++r) {
    std::copy_n(&x_[r * kBlogFeatures], kBlogFeatures, row.begin());
    for (std::size_t i = 0; i < used.size(); ++i) x_[r * used.size() + i] = row[used[i]];
  }
  x_.resize(y_.size() * used.size());
  table.x = std::move(x_);
  table.y = std::move(y_);
  table.train = train_;
  return table;
}

}  // namespace saltus
