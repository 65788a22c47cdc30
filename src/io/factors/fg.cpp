// .fg of libDAI: the number of factors, then of each its labels, its levels and the entries that
// are not 0. The first label runs fastest. Coordinates are the labels that occur, in increasing
// order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "io/factors/factor_problem.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_text.hpp"

namespace saltus {
namespace {

class FgReader {
 public:
  explicit FgReader(const ByteSource& source)
      : text_(source), most_entries_(std::min(kMostGraphEntries, kFewEntries + 16 * source.size)) {}

  FactorsModel read() {
    const std::int64_t factors =
        whole("the number of factors", 1, std::numeric_limits<std::int32_t>::max());
    for (std::int64_t f = 0; f < factors; ++f) read_factor(f);
    if (text_.next_word('#')) {
      text_.refuse(in_quotes(text_.word()) + " follows behind the last factor");
    }
    if (levels_.empty()) text_.refuse_file("it names no variable");
    name_coordinates();
    return std::move(model_);
  }

 private:
  // Entries that are left out take memory, too: a short file may have tables of so many.
  static constexpr std::uint64_t kFewEntries = std::uint64_t{1} << 24;

  std::string_view next(const char* what) {
    if (!text_.next_word('#')) text_.refuse_file(fmt::format("the file ends before {}", what));
    return text_.word();
  }
  std::int64_t whole(const char* what, std::int64_t low, std::int64_t high) {
    return text_.whole(next(what), what, low, high);
  }

  void read_factor(std::int64_t f) {
    read_scope(f);
    const std::uint64_t size = read_levels(f);
    const auto count = static_cast<std::uint64_t>(
        whole("the number of entries of a factor", 0, std::numeric_limits<std::int64_t>::max()));
    if (count == 0)
      text_.refuse(fmt::format("factor {} has no entries: it forbids every state", f));
    if (count > size) {
      text_.refuse(fmt::format("factor {} has {} entries; the levels of its variables make {}", f,
                               count, size));
    }
    const std::size_t begin = model_.entries.size();
    model_.entries.resize(begin + size, -std::numeric_limits<double>::infinity());
    listed_.assign(size, false);
    bool possible = false;
    for (std::uint64_t k = 0; k < count; ++k) {
      const auto at = static_cast<std::size_t>(
          whole("the index of an entry", 0, static_cast<std::int64_t>(size) - 1));
      if (listed_[at]) text_.refuse(fmt::format("factor {} lists the entry {} twice", f, at));
      listed_[at] = true;
      double value = 0;
      const std::string_view word = next("the end of a factor");
      if (!logarithm_in_decimals(word, value, model_.entries[begin + at])) {
        text_.refuse(fmt::format("an entry of factor {} is {}; expected a finite number from 0 on",
                                 f, in_quotes(word)));
      }
      possible = possible || !std::isinf(model_.entries[begin + at]);
    }
    if (!possible) text_.refuse(fmt::format("factor {} forbids every state", f));
    model_.scope_begin.push_back(model_.scopes.size());
    model_.entry_begin.push_back(model_.entries.size());
  }

  void read_scope(std::int64_t f) {
    const std::int64_t size =
        whole("the number of variables of a factor", 0, std::numeric_limits<std::int32_t>::max());
    scope_.clear();
    for (std::int64_t k = 0; k < size; ++k) {
      scope_.push_back(
          static_cast<std::int32_t>(whole("a label", 0, std::numeric_limits<std::int32_t>::max())));
    }
    std::vector<std::int32_t> sorted = scope_;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
      text_.refuse(fmt::format("factor {} names variable {} twice", f, *twice));
    }
    // The last of a scope runs fastest here.
    model_.scopes.insert(model_.scopes.end(), scope_.rbegin(), scope_.rend());
  }

  std::uint64_t read_levels(std::int64_t f) {
    std::uint64_t size = 1;
    for (const std::int32_t label : scope_) {
      const auto levels = static_cast<int>(whole("a number of levels", 1, Domain::kMaxLevels));
      const int before = levels_.try_emplace(label, levels).first->second;
      if (before != levels) {
        text_.refuse(
            fmt::format("variable {} has {} levels here and {} before", label, levels, before));
      }
      size *= static_cast<std::uint64_t>(levels);
      if (size > kMostTableEntries || size + model_.entries.size() > most_entries_) {
        text_.refuse(
            fmt::format("with factor {} the tables need {} entries or more; at most {} "
                        "are possible in a file of this size",
                        f, size + model_.entries.size(), most_entries_));
      }
    }
    return size;
  }

  void name_coordinates() {
    std::vector<std::int64_t> labels;
    for (const auto& [label, levels] : levels_) {
      labels.push_back(label);
      model_.levels.push_back(levels);
    }
    for (std::int32_t& i : model_.scopes) {
      i = static_cast<std::int32_t>(std::ranges::lower_bound(labels, i) - labels.begin());
    }
    if (std::ranges::all_of(model_.levels, [](int levels) { return levels == 1; })) {
      text_.refuse_file("every variable has a single level: there is nothing to draw");
    }
    model_.labels = number_labels(labels);
  }

  ProblemText text_;
  std::uint64_t most_entries_;
  FactorsModel model_;                  // its scopes hold labels until all are known
  std::map<std::int32_t, int> levels_;  // of each label
  std::vector<std::int32_t> scope_;
  std::vector<bool> listed_;
};

}  // namespace

Model read_fg(const ByteSource& source, const ProblemOptions& options) {
  return factors_problem(FgReader(source).read(), options);
}

}  // namespace saltus
