// ProPublica's compas-scores-two-years.csv: is a defendant charged again within two years?
#include <array>
#include <string_view>

#include "io/data/numpy_shuffle.hpp"
#include "reproduce/data/published_tables.hpp"

namespace saltus {
namespace {

const std::vector<ColumnSource>& sources() {
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

// ProPublica's own selection: the charge is near the screening, it is known whether there was
// another one, it is no traffic offence ("O" is the last degree that stays), and there is a score.
class Selection {
 public:
  explicit Selection(const CsvReader& in)
      : in_(in),
        days_(in.column("days_b_screening_arrest")),
        known_(in.column("is_recid")),
        degree_(in.column("c_charge_degree")),
        score_(in.column("score_text")) {}

  bool takes_current_line() const {
    const std::vector<std::string_view>& fields = in_.fields();
    if (fields[days_].empty() || fields[degree_].empty()) return false;
    const double days = in_.number(days_);
    return days >= -30 && days <= 30 && in_.number(known_) != -1 && fields[degree_] <= "O" &&
           fields[score_] != "N/A";
  }

 private:
  const CsvReader& in_;
  std::size_t days_, known_, degree_, score_;
};

}  // namespace

RegressionTable compas_table(CsvReader& in, RowsRead& read) {
  in.read_names();
  const Selection selection(in);
  std::vector<std::size_t> fields;
  for (const ColumnSource& source : sources()) fields.push_back(in.column(source.name));
  const std::size_t target = in.column("two_year_recid");
  std::vector<double> codes, y;
  while (in.next(in.names().size())) {
    ++read.train;
    if (!selection.takes_current_line()) continue;
    for (std::size_t s = 0; s < fields.size(); ++s) {
      codes.push_back(coded(in, fields[s], sources()[s]));
    }
    y.push_back(coded(in, target, {"two_year_recid", {"0", "1"}}));
  }
  // All rows are shuffled, and the first 80 % are to learn from.
  const auto order = numpy_permutation(kShuffleSeed, static_cast<int>(y.size()));
  RegressionTable table;
  spread_words(sources(), reordered(codes, sources().size(), order), table);
  table.y = reordered(y, 1, order);
  table.train = static_cast<std::size_t>(static_cast<double>(y.size()) * 0.8);
  return table;
}

}  // namespace saltus
