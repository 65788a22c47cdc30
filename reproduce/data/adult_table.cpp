// UCI Adult: does a person earn more than 50,000 dollars a year?
#include <algorithm>
#include <string>

#include "io/data/numpy_shuffle.hpp"
#include "reproduce/data/published_tables.hpp"

namespace saltus {
namespace {

constexpr std::size_t kFields = 15, kIncome = 14;
// Those that hold words: a row with an unknown one ("?") is left out.
constexpr std::size_t kWordFields[] = {1, 3, 5, 6, 7, 8, 9, 13};

struct AdultColumn {
  std::size_t field;
  ColumnSource source;
};

// In the order in which the network sees them. The field 3, education, says the same as
// education-num. No row that stays has the last workclass, so it makes no column.
const std::vector<AdultColumn>& adult_columns() {
  static const std::vector<AdultColumn> list = {
      {4, {"education-num", {}}},
      {10, {"capital-gain", {}}},
      {12, {"hours-per-week", {}}},
      {0, {"age", {}}},
      {2, {"fnlwgt", {}}},
      {11, {"capital-loss", {}}},
      {1,
       {"workclass",
        {"Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
         "Without-pay", "Never-worked"}}},
      {5,
       {"marital-status",
        {"Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed",
         "Married-spouse-absent", "Married-AF-spouse"}}},
      {6,
       {"occupation",
        {"Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial",
         "Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical",
         "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv",
         "Armed-Forces"}}},
      {7,
       {"relationship",
        {"Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"}}},
      {8, {"race", {"White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"}}},
      {9, {"sex", {"Female", "Male"}}},
      {13,
       {"native-country",
        {"United-States",
         "Cambodia",
         "England",
         "Puerto-Rico",
         "Canada",
         "Germany",
         "Outlying-US(Guam-USVI-etc)",
         "India",
         "Japan",
         "Greece",
         "South",
         "China",
         "Cuba",
         "Iran",
         "Honduras",
         "Philippines",
         "Italy",
         "Poland",
         "Jamaica",
         "Vietnam",
         "Mexico",
         "Portugal",
         "Ireland",
         "France",
         "Dominican-Republic",
         "Laos",
         "Ecuador",
         "Taiwan",
         "Haiti",
         "Columbia",
         "Hungary",
         "Guatemala",
         "Nicaragua",
         "Scotland",
         "Thailand",
         "Yugoslavia",
         "El-Salvador",
         "Trinadad&Tobago",
         "Peru",
         "Hong",
         "Holand-Netherlands"}}},
  };
  return list;
}

struct AdultRows {
  std::vector<double> codes, y;
  std::size_t read = 0;
};

AdultRows read_rows(CsvReader& in, const ColumnSource& income) {
  AdultRows rows;
  while (in.next(kFields)) {
    ++rows.read;
    if (std::any_of(std::begin(kWordFields), std::end(kWordFields),
                    [&](std::size_t field) { return in.fields()[field] == "?"; })) {
      continue;
    }
    for (const auto& [field, source] : adult_columns()) {
      rows.codes.push_back(coded(in, field, source));
    }
    rows.y.push_back(coded(in, kIncome, income));
  }
  return rows;
}

}  // namespace

RegressionTable adult_table(CsvReader& train, CsvReader& test, RowsRead& read) {
  std::vector<ColumnSource> sources;
  for (const AdultColumn& column : adult_columns()) sources.push_back(column.source);
  AdultRows rows = read_rows(train, {"income", {"<=50K", ">50K"}});
  test.skip_line();  // "|1x3 Cross validator"
  const AdultRows test_rows = read_rows(test, {"income", {"<=50K.", ">50K."}});
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

}  // namespace saltus
