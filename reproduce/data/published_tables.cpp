// The published tables compas, adult, news and blog.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/data/byte_rows.hpp"
#include "reproduce/data/regression_table.hpp"
#include "saltus/core/error.hpp"
#include "saltus/text/corpus.hpp"

namespace saltus {
namespace {

// ---- ProPublica's compas-scores-two-years.csv: is a defendant charged again within two years?

const std::vector<ColumnSource>& compas_sources() {
  static const std::vector<ColumnSource> list = {
      {"priors_count", {}},
      {"juv_fel_count", {}},
      {"juv_misd_count", {}},
      {"juv_other_count", {}},
      {"age", {}},
      {"race", {"African-American", "Hispanic", "Asian", "Caucasian", "Native American", "Other"}},
      {"sex", {"Male", "Female"}},
  };
  return list;
}

// ---- UCI Adult: does a person earn more than 50,000 dollars a year?

constexpr std::size_t kFields = 15, kIncome = 14;
// Those that hold words: a row with an unknown one ("?") is left out.
constexpr std::size_t kWordFields[] = {1, 3, 5, 6, 7, 8, 9, 13};

struct AdultColumn {
  std::size_t field;
  const char *name, *words;  // words: separated by blanks; none for numbers
};

// In the order in which the network sees them. The field 3, education, says the same as
// education-num. No row that stays has the last workclass, so it makes no column.
constexpr AdultColumn kAdultColumns[] = {
    {4, "education-num", ""},
    {10, "capital-gain", ""},
    {12, "hours-per-week", ""},
    {0, "age", ""},
    {2, "fnlwgt", ""},
    {11, "capital-loss", ""},
    {1, "workclass",
     "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
     "Never-worked"},
    {5, "marital-status",
     "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
     "Married-AF-spouse"},
    {6, "occupation",
     "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
     "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
     "Priv-house-serv Protective-serv Armed-Forces"},
    {7, "relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"},
    {8, "race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"},
    {9, "sex", "Female Male"},
    {13, "native-country",
     "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India "
     "Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico "
     "Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary "
     "Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong "
     "Holand-Netherlands"}};

std::vector<ColumnSource> adult_sources() {
  std::vector<ColumnSource> sources;
  for (const AdultColumn& column : kAdultColumns) {
    sources.push_back({column.name, split_words(column.words)});
  }
  return sources;
}

struct AdultRows {
  std::vector<double> codes, y;
  std::size_t read = 0;
};

AdultRows read_rows(CsvReader& in, const std::vector<ColumnSource>& sources,
                    const ColumnSource& income) {
  AdultRows rows;
  while (in.next(kFields)) {
    ++rows.read;
    if (std::ranges::any_of(kWordFields,
                            [&](std::size_t field) { return in.fields()[field] == "?"; })) {
      continue;
    }
    for (std::size_t s = 0; s < sources.size(); ++s) {
      rows.codes.push_back(coded(in, kAdultColumns[s].field, sources[s]));
    }
    rows.y.push_back(coded(in, kIncome, income));
  }
  return rows;
}

// ---- UCI Online News Popularity: how often is an article shared?

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

// ---- UCI BlogFeedback: how many comments will a post get within a day?

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

}  // namespace

RegressionTable compas_table(CsvReader& in, RowsRead& read) {
  in.read_names();
  const std::size_t days = in.column("days_b_screening_arrest"), known = in.column("is_recid"),
                    degree = in.column("c_charge_degree"), score = in.column("score_text");
  // ProPublica's own selection: the charge is near the screening, it is known whether there was
  // another one, it is no traffic offence ("O" is the last degree that stays), and there is a
  // score.
  const auto selected = [&](const std::vector<std::string_view>& line) {
    return !line[days].empty() && !line[degree].empty() && std::abs(in.number(days)) <= 30 &&
           in.number(known) != -1 && line[degree] <= "O" && line[score] != "N/A";
  };
  std::vector<std::size_t> fields;
  for (const ColumnSource& source : compas_sources()) fields.push_back(in.column(source.name));
  const std::size_t target = in.column("two_year_recid");
  std::vector<double> codes, y;
  while (in.next(in.names().size())) {
    ++read.train;
    if (!selected(in.fields())) continue;
    for (std::size_t s = 0; s < fields.size(); ++s) {
      codes.push_back(coded(in, fields[s], compas_sources()[s]));
    }
    y.push_back(coded(in, target, {"two_year_recid", {"0", "1"}}));
  }
  // All rows are shuffled, and the first 80 % are to learn from.
  const auto order = numpy_permutation(kShuffleSeed, static_cast<int>(y.size()));
  RegressionTable table;
  spread_words(compas_sources(), reordered(codes, compas_sources().size(), order), table);
  table.y = reordered(y, 1, order);
  table.train = static_cast<std::size_t>(static_cast<double>(y.size()) * 0.8);
  return table;
}

RegressionTable adult_table(CsvReader& train, CsvReader& test, RowsRead& read) {
  const std::vector<ColumnSource> sources = adult_sources();
  const AdultRows rows = read_rows(train, sources, {"income", {"<=50K", ">50K"}});
  test.skip_line();  // "|1x3 Cross validator"
  const AdultRows test_rows = read_rows(test, sources, {"income", {"<=50K.", ">50K."}});
  read = {rows.read, test_rows.read};

  // Only the rows to learn from are shuffled: the split is the published one.
  const auto order = numpy_permutation(kShuffleSeed, static_cast<int>(rows.y.size()));
  std::vector<double> codes = reordered(rows.codes, sources.size(), order);
  codes.insert(codes.end(), test_rows.codes.begin(), test_rows.codes.end());
  RegressionTable table;
  spread_words(sources, codes, table);
  table.y = reordered(rows.y, 1, order);
  table.train = table.y.size();
  table.y.insert(table.y.end(), test_rows.y.begin(), test_rows.y.end());
  return table;
}

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

// The columns in their final order: those of kFirst, then the others that differ between the rows.
std::vector<std::size_t> BlogTable::used_columns(const std::vector<std::size_t>& rows) const {
  std::vector<std::size_t> used(std::begin(kFirst), std::end(kFirst));
  for (std::size_t column = 0; column < kBlogFeatures; ++column) {
    const auto value = [&](std::size_t row) { return x_[row * kBlogFeatures + column]; };
    const bool varies =
        std::ranges::any_of(rows, [&](std::size_t row) { return value(row) != value(rows[0]); });
    if (varies && std::ranges::count(kFirst, column) == 0) used.push_back(column);
  }
  return used;
}

RegressionTable BlogTable::finish() {
  if (y_.empty()) throw DataError("the data set blog has no rows");
  std::vector<std::size_t> rows;
  const double limit = percentile_90(y_);
  for (std::size_t r = 0; r < y_.size(); ++r) {
    if (y_[r] <= limit) rows.push_back(r);
  }
  const std::vector<std::size_t> used = used_columns(rows);
  RegressionTable table;
  for (const std::size_t column : used) table.columns.push_back(fmt::format("column {}", column));
  // In place: a row moves to the front, behind rows that have moved before.
  std::vector<double> row(kBlogFeatures);
  double* out = x_.data();
  for (const std::size_t r : rows) {
    std::copy_n(&x_[r * kBlogFeatures], kBlogFeatures, row.begin());
    for (const std::size_t column : used) *out++ = row[column];
    table.y.push_back(y_[r]);
    table.train += r < train_;
  }
  x_.resize(rows.size() * used.size());
  table.x = std::move(x_);
  return table;
}

}  // namespace saltus
