// .qubo of qbsolv: "p qubo 0 maxNodes nNodes nCouplers", then "i i q" and "i j q", counted from 0.
#include <fmt/format.h>

#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_text.hpp"

namespace saltus {
namespace {

constexpr std::int64_t kMostQuboNodes = 100'000'000, kMostCounted = std::int64_t{1} << 40;

class QuboReader {
 public:
  explicit QuboReader(const ByteSource& source) : text_(source) {}

  PairProblem read() {
    read_header();
    while (next()) read_line();
    if (nodes_ != announced_nodes_ || problem_.pairs.size() != announced_couplers_) {
      text_.refuse(
          fmt::format("the file ends after {} nodes and {} couplers; its line p announces "
                      "{} and {}",
                      nodes_, problem_.pairs.size(), announced_nodes_, announced_couplers_));
    }
    if (const auto k = first_repeated(problem_.pairs)) {
      text_.set_line_number(lines_.line_of(*k));
      text_.refuse(fmt::format("the coupler {} {} is there twice", problem_.pairs[*k].i,
                               problem_.pairs[*k].j));
    }
    return std::move(problem_);
  }

 private:
  bool next() {
    while (text_.next_line()) {
      const char first = text_.line().front();
      if (first != 'c' && first != 'C') return true;
    }
    return false;
  }

  void read_header() {
    if (!next()) text_.refuse_file("it has no line 'p qubo 0 maxNodes nNodes nCouplers'");
    const auto words = text_.words();
    if (words.size() != 6 || (words[0] != "p" && words[0] != "P") || words[1] != "qubo") {
      text_.refuse("expected 'p qubo 0 maxNodes nNodes nCouplers', not " + in_quotes(text_.line()));
    }
    if (words[2] != "0" && words[2] != "unconstrained") {
      text_.refuse("the topology is " + in_quotes(words[2]) + "; expected 0 or unconstrained");
    }
    const std::int64_t n = text_.whole(words[3], "maxNodes", 1, kMostQuboNodes);
    announced_nodes_ = static_cast<std::size_t>(text_.whole(words[4], "nNodes", 0, n));
    announced_couplers_ =
        static_cast<std::size_t>(text_.whole(words[5], "nCouplers", 0, kMostCounted));
    problem_.linear.resize(static_cast<std::size_t>(n));
    given_.resize(static_cast<std::size_t>(n));
    problem_.pairs.reserve(text_.room_for(announced_couplers_, 6));
  }

  void read_line() {
    const auto words = text_.words();
    if (words.size() != 3) {
      text_.refuse(fmt::format("expected 'i j weight', but the line has {} words", words.size()));
    }
    const int last = problem_.size() - 1;
    const auto i = static_cast<int>(text_.whole(words[0], "a node", 0, last));
    const auto j = static_cast<int>(text_.whole(words[1], "a node", 0, last));
    const double q = text_.number(words[2], "the weight");
    if (i > j)
      text_.refuse(fmt::format("the coupler {} {} must name the smaller node first", i, j));
    if (i < j) {
      problem_.pairs.push_back({i, j, q});
      lines_.add(text_.line_number());
      return;
    }
    const auto at = static_cast<std::size_t>(i);
    if (given_[at]) text_.refuse(fmt::format("the node {} is there twice", i));
    given_[at] = true;
    problem_.linear[at] = q;
    ++nodes_;
  }

  ProblemText text_;
  PairProblem problem_;
  std::vector<bool> given_;  // nodes with a line of their own
  std::size_t announced_nodes_ = 0, announced_couplers_ = 0, nodes_ = 0;
  EntryLines lines_;  // of the couplers
};

}  // namespace

Model read_qubo(const ByteSource& source, const ProblemOptions& options) {
  return energy_model(QuboReader(source).read(), options);
}

}  // namespace saltus
