// Clauses of DIMACS: .cnf, and .wcnf with weights, in the form with a line p and in that of 2022.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/factors/factor_problem.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/graph.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr double kHard = std::numeric_limits<double>::infinity();
constexpr double kLargestWeight = 1e30;

// Literals up to the word 0, whatever lines they stand on.
class ClauseReader {
 public:
  explicit ClauseReader(const ByteSource& source) : text_(source) {}

  FactorsModel read_cnf(bool hard) {
    read_header("cnf", 4, 4);
    while (text_.next_word('c') && !text_.word().starts_with('%')) {
      read_clause(text_.word(), hard ? kHard : 1);
    }
    return finished();
  }

  FactorsModel read_wcnf() {
    if (!next_line()) text_.refuse_file("it has no clauses");
    if (text_.words()[0] == "p") {
      read_header_line("wcnf", 4, 5);
    } else {
      variables_ = kMostVariables;
      text_.begin_words_here();
    }
    while (text_.next_word('c')) {
      const double weight = header_ ? weight_of_header() : weight_of_2022();
      if (!text_.next_word('c')) text_.refuse("the file ends behind the weight of a clause");
      read_clause(text_.word(), weight);
    }
    if (!header_) {
      announced_ = model_.clauses();
      variables_ = largest_;
      if (variables_ == 0) text_.refuse_file("it names no variable");
    }
    return finished();
  }

 private:
  using Literal = FactorsModel::Literal;

  bool next_line() {
    while (text_.next_line()) {
      if (text_.line().front() != 'c') return true;
    }
    return false;
  }

  void read_header(const char* kind, std::size_t fewest, std::size_t most) {
    if (!next_line())
      text_.refuse_file(fmt::format("it has no line 'p {} variables clauses'", kind));
    read_header_line(kind, fewest, most);
  }

  void read_header_line(const char* kind, std::size_t fewest, std::size_t most) {
    const auto words = text_.words();
    if (words.size() < fewest || words.size() > most || words[0] != "p" || words[1] != kind) {
      text_.refuse(fmt::format("expected 'p {} variables clauses{}', not {}", kind,
                               most > fewest ? " [top]" : "", in_quotes(text_.line())));
    }
    variables_ = text_.whole(words[2], "the number of variables", 1, kMostVariables);
    announced_ = static_cast<std::uint64_t>(text_.whole(words[3], "the number of clauses", 0,
                                                        std::numeric_limits<std::int32_t>::max()));
    header_ = true;
    if (words.size() == 5) top_ = weight(words[4], "the weight of hard clauses, top,");
    model_.weights.reserve(text_.room_for(announced_, 2));
  }

  // A weight, also as the whole number that it may be: those near 2^63 are not equal as doubles.
  struct Weight {
    double value;
    std::int64_t whole;  // -1 where it is none
    bool reaches(const Weight& top) const {
      return whole >= 0 && top.whole >= 0 ? whole >= top.whole : value >= top.value;
    }
  };

  Weight weight(std::string_view word, const char* what) {
    Weight w{0, -1};
    if (number_in_decimals(word, w.value) && w.value > 0 && w.value < kLargestWeight) {
      if (!whole_in(word, w.whole)) w.whole = -1;
      return w;
    }
    text_.refuse(
        fmt::format("{} is {}; expected a number above 0 and below 1e30", what, in_quotes(word)));
  }

  double weight_of_header() {
    if (text_.word() == "h") {
      text_.refuse("a clause begins with 'h', which files with a line p do not have");
    }
    const Weight w = weight(text_.word(), "the weight of a clause");
    return top_ && w.reaches(*top_) ? kHard : w.value;
  }

  double weight_of_2022() {
    if (text_.word() == "p") text_.refuse("a line p stands behind clauses");
    return text_.word() == "h" ? kHard : weight(text_.word(), "the weight of a clause").value;
  }

  // From its first literal on.
  void read_clause(std::string_view word, double weight) {
    if (header_ && model_.clauses() == announced_) {
      text_.refuse(fmt::format("the line p announces {} clauses, and more follow", announced_));
    }
    while (true) {
      const std::int64_t literal = text_.whole(word, "a literal", -variables_, variables_);
      if (literal == 0) break;
      largest_ = std::max(largest_, std::abs(literal));
      model_.literals.push_back({static_cast<std::int32_t>(std::abs(literal) - 1),
                                 static_cast<Symbol>(literal > 0 ? 1 : 0)});
      if (!text_.next_word('c') || text_.word().starts_with('%')) {
        text_.refuse(
            fmt::format("the file ends within clause {}: its 0 is missing", model_.clauses() + 1));
      }
      word = text_.word();
    }
    if (std::isinf(weight) && model_.literals.size() == model_.clause_begin.back()) {
      text_.refuse("a hard clause is empty: no state satisfies it");
    }
    model_.clause_begin.push_back(model_.literals.size());
    model_.weights.push_back(weight);
  }

  FactorsModel finished() {
    if (model_.clauses() != announced_) {
      text_.refuse(fmt::format("the file ends after {} clauses; its line p announces {}",
                               model_.clauses(), announced_));
    }
    model_.levels.assign(static_cast<std::size_t>(variables_), 2);
    return std::move(model_);
  }

  ProblemText text_;
  std::int64_t variables_ = 0, largest_ = 0;
  std::uint64_t announced_ = 0;
  bool header_ = false;
  std::optional<Weight> top_;
  FactorsModel model_;
};

}  // namespace

Model read_cnf(const ByteSource& source, const ProblemOptions& options) {
  if (options.penalty && options.problem.empty()) {
    throw UsageError(source.name + " holds clauses, which take no penalty without a problem, mis");
  }
  if (!options.problem.empty()) {
    if (options.problem != "mis" || options.hard) {
      throw UsageError(source.name +
                       " holds clauses: the problem that they pose on a graph is mis" +
                       (options.hard ? ", where none is hard" : ", not " + options.problem));
    }
    return graph_model(graph_of_clauses(ClauseReader(source).read_cnf(false), source.name),
                       options);
  }
  return clauses_problem(ClauseReader(source).read_cnf(options.hard), options);
}

Model read_wcnf(const ByteSource& source, const ProblemOptions& options) {
  return clauses_problem(ClauseReader(source).read_wcnf(), options);
}

}  // namespace saltus
