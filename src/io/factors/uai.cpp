// Networks of UAI (.uai), and the same with logarithms (.LG): MARKOV or BAYES, the levels, the
// scopes of all factors, then their tables, the last variable of a scope running fastest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/factors/factor_problem.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/problem_text.hpp"

namespace saltus {
namespace {

constexpr std::size_t kLeastBytes = 2;  // of a word and the blank behind it

class UaiReader {
 public:
  UaiReader(const ByteSource& source, bool logarithms) : text_(source), logarithms_(logarithms) {}

  FactorsModel read() {
    const std::string_view kind = next("MARKOV or BAYES");
    if (kind != "MARKOV" && kind != "BAYES") {
      text_.refuse("expected MARKOV or BAYES, not " + in_quotes(kind));
    }
    bayes_ = kind == "BAYES" && !logarithms_;
    read_levels();
    read_scopes();
    for (std::size_t f = 0; f < sizes_.size(); ++f) read_table(f);
    if (text_.next_word('c')) {
      text_.refuse(in_quotes(text_.word()) + " follows behind the last table");
    }
    return std::move(model_);
  }

  // How many rows of tables do not sum to 1, as those of BAYES must, and where the first is.
  std::string note() const {
    if (odd_rows_ == 0) return {};
    return fmt::format(
        "{} rows of probabilities do not sum to 1, the first in factor {} ({:.4g}); they are taken "
        "as they are",
        odd_rows_, odd_factor_, odd_sum_);
  }

 private:
  std::string_view next(const char* what) {
    if (!text_.next_word('c')) text_.refuse_file(fmt::format("the file ends before {}", what));
    return text_.word();
  }
  std::int64_t whole(const char* what, std::int64_t low, std::int64_t high) {
    return text_.whole(next(what), what, low, high);
  }

  void read_levels() {
    const auto n = static_cast<std::uint64_t>(whole("the number of variables", 1, kMostVariables));
    model_.levels.reserve(text_.room_for(n, kLeastBytes));
    for (std::uint64_t i = 0; i < n; ++i) {
      model_.levels.push_back(
          static_cast<int>(whole("a variable's number of levels", 1, Domain::kMaxLevels)));
    }
    if (*std::ranges::max_element(model_.levels) == 1) {
      text_.refuse("every variable has a single level: there is nothing to draw");
    }
  }

  void read_scopes() {
    const auto n = static_cast<std::int64_t>(model_.levels.size());
    const auto factors = static_cast<std::uint64_t>(
        whole("the number of factors", 0, std::numeric_limits<std::int32_t>::max()));
    std::vector<std::int64_t> last(model_.levels.size(), -1);  // factor that names the variable
    std::uint64_t all = 0;
    for (std::uint64_t f = 0; f < factors; ++f) {
      const std::int64_t size = whole("the number of variables of a factor", 0, n);
      std::uint64_t entries = 1;
      for (std::int64_t k = 0; k < size; ++k) {
        const auto i = static_cast<std::size_t>(whole("a variable", 0, n - 1));
        if (last[i] == static_cast<std::int64_t>(f)) {
          text_.refuse(fmt::format("factor {} names variable {} twice", f, i));
        }
        last[i] = static_cast<std::int64_t>(f);
        model_.scopes.push_back(static_cast<std::int32_t>(i));
        entries *= static_cast<std::uint64_t>(model_.levels[i]);
        if (entries > kMostTableEntries) {
          text_.refuse(
              fmt::format("factor {} needs a table of {} entries or more; at most {} are "
                          "possible",
                          f, entries, kMostTableEntries));
        }
      }
      all += entries;
      if (all > kMostGraphEntries) {
        text_.refuse(
            fmt::format("the tables up to factor {} need {} entries; at most {} are "
                        "possible",
                        f, all, kMostGraphEntries));
      }
      model_.scope_begin.push_back(model_.scopes.size());
      sizes_.push_back(entries);
    }
    model_.entries.reserve(text_.room_for(all, kLeastBytes));
  }

  void read_table(std::size_t f) {
    const std::uint64_t size = sizes_[f];
    const auto count = static_cast<std::uint64_t>(
        whole("the number of entries of a table", 0, std::numeric_limits<std::int64_t>::max()));
    if (count != size) {
      text_.refuse(
          fmt::format("the table of factor {} has {} entries; the levels of its variables "
                      "make {}",
                      f, count, size));
    }
    if (text_.room_for(count, kLeastBytes) < count) {
      text_.refuse(
          fmt::format("the table of factor {} has {} entries, for which the file is too "
                      "short",
                      f, count));
    }
    bool possible = false;
    const auto scope = model_.scope(f);
    const auto row = static_cast<std::uint64_t>(
        scope.empty() ? 1 : model_.levels[static_cast<std::size_t>(scope.back())]);
    double sum = 0;
    for (std::uint64_t k = 0; k < count; ++k) {
      double value = 0;
      const double entry = logarithms_ ? read_logarithm(f) : read_number(f, value);
      possible = possible || !std::isinf(entry);
      model_.entries.push_back(entry);
      sum += value;
      if ((k + 1) % row == 0) {
        if (bayes_) check_row(f, sum);
        sum = 0;
      }
    }
    if (!possible) {
      text_.refuse(fmt::format("the table of factor {} forbids every state", f));
    }
    model_.entry_begin.push_back(model_.entries.size());
  }

  double read_number(std::size_t f, double& value) {
    double logarithm = 0;
    const std::string_view word = next("the end of a table");
    if (!logarithm_in_decimals(word, value, logarithm)) {
      text_.refuse(fmt::format("an entry of factor {} is {}; expected a finite number from 0 on", f,
                               in_quotes(word)));
    }
    return logarithm;
  }

  double read_logarithm(std::size_t f) {
    constexpr double kForbids = -1e38, kLargest = 1e30;
    constexpr double never = -std::numeric_limits<double>::infinity();
    const std::string_view word = next("the end of a table");
    double value = 0;
    if (word == "-inf") return never;
    if (number_in_decimals(word, value)) {
      if (value <= kForbids) return never;
      if (std::abs(value) < kLargest) return value;
    }
    text_.refuse(
        fmt::format("an entry of factor {} is {}; expected a logarithm within 1e30 of 0, "
                    "or -inf",
                    f, in_quotes(word)));
  }

  void check_row(std::size_t f, double sum) {
    constexpr double kTolerance = 1e-3;
    if (std::abs(sum - 1) <= kTolerance) return;
    if (odd_rows_++ > 0) return;
    odd_factor_ = f;
    odd_sum_ = sum;
  }

  ProblemText text_;
  bool logarithms_, bayes_ = false;
  FactorsModel model_;
  std::vector<std::uint64_t> sizes_;  // of the tables
  std::size_t odd_rows_ = 0, odd_factor_ = 0;
  double odd_sum_ = 0;
};

}  // namespace

Model read_uai(const ByteSource& source, const ProblemOptions& options) {
  UaiReader reader(source, false);
  Model model = factors_problem(reader.read(), options);
  if (std::string note = reader.note(); !note.empty()) model.notes.push_back(std::move(note));
  return model;
}

Model read_lg(const ByteSource& source, const ProblemOptions& options) {
  return factors_problem(UaiReader(source, true).read(), options);
}

}  // namespace saltus
