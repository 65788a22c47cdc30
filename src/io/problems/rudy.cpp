// "n m", then m lines "i j w", coordinates counted from 1: graphs with weights, as rudy and G-set
// write them, and matrices of Biq Mac. Lines that begin with # are comments.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/problems/formats.hpp"
#include "io/problems/graph.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::int64_t kMostNodes = 100'000'000;
constexpr std::size_t kShortestEntry = 4;  // "1 2\n"

class Triples {
 public:
  // The weight may be missing, on all lines, where `bare`.
  Triples(const ByteSource& source, const char* what, bool bare)
      : text_(source), what_(what), bare_(bare) {
    if (!next()) text_.refuse_file("it is empty");
    const auto words = text_.words();
    if (words.size() != 2) text_.refuse("expected 'n m', two whole numbers");
    n = static_cast<int>(text_.whole(words[0], "the number of nodes", 1, kMostNodes));
    announced_ = static_cast<std::uint64_t>(
        text_.whole(words[1], (std::string("the number of ") + what_).c_str(), 0, INT64_MAX));
    entries.reserve(text_.room_for(announced_, kShortestEntry));
    while (next()) read_entry();
    if (entries.size() < announced_) {
      text_.refuse(fmt::format("the file ends after {} {}; its first line announces {}",
                               entries.size(), what_, announced_));
    }
    if (const auto k = first_repeated(entries)) {
      const Coupling& c = entries[*k];
      text_.set_line_number(lines_.line_of(*k));
      text_.refuse(fmt::format("the entry {} {} is there twice, in this order or the other",
                               c.i + 1, c.j + 1));
    }
  }

  int n = 0;
  std::vector<Coupling> entries;

  // Throws DataError that names the line of an entry.
  [[noreturn]] void refuse_entry(std::size_t k, const std::string& why) {
    text_.set_line_number(lines_.line_of(k));
    text_.refuse(why);
  }

 private:
  bool next() {
    while (text_.next_line()) {
      if (text_.line().front() != '#') return true;
    }
    return false;
  }

  void read_entry() {
    if (entries.size() == announced_) {
      text_.refuse(
          fmt::format("there are more than the {} {} of the first line", announced_, what_));
    }
    const auto words = text_.words();
    const bool weighted = words.size() == 3;
    if (!weighted && !(bare_ && words.size() == 2)) {
      text_.refuse(fmt::format("expected 'i j weight', but the line has {} words", words.size()));
    }
    if (words_ == 0) words_ = words.size();
    if (words.size() != words_) text_.refuse("some edges have a weight and some have none");
    const auto node = [&](std::size_t k) {
      return static_cast<int>(text_.whole(words[k], "a node", 1, n)) - 1;
    };
    const int i = node(0), j = node(1);
    entries.push_back({i, j, weighted ? text_.number(words[2], "the weight") : 1.0});
    lines_.add(text_.line_number());
  }

  ProblemText text_;
  const char* what_;
  bool bare_;
  std::uint64_t announced_ = 0;
  std::size_t words_ = 0;
  EntryLines lines_;
};

void refuse_loop(Triples& file, std::size_t k) {
  const Coupling& c = file.entries[k];
  if (c.i == c.j) file.refuse_entry(k, fmt::format("the edge joins node {} to itself", c.i + 1));
}

Graph graph_of(Triples& file, const std::string& name) {
  for (std::size_t k = 0; k < file.entries.size(); ++k) refuse_loop(file, k);
  for (Coupling& c : file.entries) {
    if (c.i > c.j) std::swap(c.i, c.j);
  }
  std::ranges::sort(file.entries, {}, [](const Coupling& c) { return std::pair(c.i, c.j); });
  Graph graph{file.n, {}, {}, name};
  for (const Coupling& c : file.entries) {
    graph.edges.emplace_back(c.i, c.j);
    graph.weights.push_back(c.weight);
  }
  const bool all_one = std::ranges::all_of(graph.weights, [](double w) { return w == 1; });
  if (all_one) graph.weights.clear();
  return graph;
}

}  // namespace

// The cut is sum w (1 - s s') / 2: E = -cut.
Model read_rudy(const ByteSource& source, const ProblemOptions& options) {
  Triples file(source, "edges", true);
  if (!options.problem.empty()) return graph_model(graph_of(file, source.name), options);
  if (options.penalty || options.colours || options.parts) {
    throw UsageError(
        source.name +
        " is read as a graph whose cut is to be large, which takes no penalty, colours "
        "or parts; another problem must be named");
  }
  PairProblem cut{true, std::vector<double>(static_cast<std::size_t>(file.n)), {}, 0, {}};
  double sum = 0;
  bool whole = true;
  for (std::size_t k = 0; k < file.entries.size(); ++k) {
    Coupling& c = file.entries[k];
    refuse_loop(file, k);
    sum += c.weight;
    whole = whole && c.weight == std::trunc(c.weight);
    c.weight /= 2;
  }
  cut.pairs = std::move(file.entries);
  cut.offset = -sum / 2;
  Model model;
  model.objective = Objective{"cut", true, options.beta, whole};
  model.value = model_of(std::move(cut), options.beta);
  const std::string& name = source.name;
  if (options.format.empty() && (name.ends_with(".txt") || name.ends_with(".txt.gz"))) {
    model.notes.push_back(name + " is read as a graph whose cut is to be large (format rudy)");
  }
  return model;
}

// x'Qx with symmetric Q of which each pair is given once: pairs count twice.
Model read_bq(const ByteSource& source, const ProblemOptions& options) {
  Triples file(source, "entries", false);
  PairProblem p{false, std::vector<double>(static_cast<std::size_t>(file.n)), {}, 0, {}};
  std::erase_if(file.entries, [&](const Coupling& c) {
    if (c.i == c.j) p.linear[static_cast<std::size_t>(c.i)] = c.weight;
    return c.i == c.j;
  });
  for (Coupling& c : file.entries) c.weight *= 2;
  p.pairs = std::move(file.entries);
  return energy_model(std::move(p), options);
}

}  // namespace saltus
