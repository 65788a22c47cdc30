// UCI Online News Popularity: how often is an article shared?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/data/numpy_shuffle.hpp"
#include "reproduce/data/published_tables.hpp"

namespace saltus {
namespace {

constexpr std::uint32_t kSplitSeed = 42;
constexpr std::size_t kNewsFeatures = 58;

// All but the address, the age of the article, and the target, which is the last.
std::vector<std::size_t> feature_fields(const CsvReader& in) {
  const std::vector<std::string>& names = in.names();
  if (names.back() != "shares") {
    in.refuse(fmt::format("the last column is '{}' where 'shares' is expected", names.back()));
  }
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    if (names[i] != "url" && names[i] != "timedelta") fields.push_back(i);
  }
  if (fields.size() != kNewsFeatures) {
    in.refuse(
        fmt::format("besides url, timedelta and shares it names {} columns where {} are expected",
                    fields.size(), kNewsFeatures));
  }
  return fields;
}

}  // namespace

RegressionTable news_table(CsvReader& in, RowsRead& read) {
  in.read_names();
  const std::vector<std::size_t> fields = feature_fields(in);
  const std::size_t shares = in.names().size() - 1;
  std::vector<double> x, y;
  while (in.next(in.names().size())) {
    for (const std::size_t field : fields) x.push_back(in.number(field));
    const double count = in.number(shares);
    if (count <= 0) in.refuse(in.unexpected(shares, "a number above 0"));
    y.push_back(std::log(count));
  }
  read.train = y.size();

  // scikit-learn's train_test_split: of a permutation, the first fifth, rounded up, is the test.
  auto order = numpy_permutation(kSplitSeed, static_cast<int>(y.size()));
  const double test = std::ceil(0.2 * static_cast<double>(y.size()));
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(test), order.end());
  RegressionTable table;
  for (const std::size_t field : fields) table.columns.push_back(in.names()[field]);
  table.x = reordered(x, kNewsFeatures, order);
  table.y = reordered(y, 1, order);
  table.train = y.size() - static_cast<std::size_t>(test);
  return table;
}

}  // namespace saltus
