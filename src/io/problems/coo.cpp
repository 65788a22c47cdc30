// Lines "i j bias" with labels in place of coordinates: COO of dimod, and the lattices of Isakov's
// programs. Coordinates are the labels that occur, in increasing order.
#include <fmt/format.h>

#include <algorithm>

#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::int64_t kLargestLabel = INT32_MAX;
constexpr std::size_t kMostLabels = 100'000'000;

// Entries between labels, and which lines they stand on.
class LabelledEntries {
 public:
  // "i j bias", `what` in messages.
  void add(ProblemText& text, const char* what) {
    const auto words = text.words();
    if (words.size() != 3) {
      text.refuse(fmt::format("expected 'i j {}', but the line has {} words", what, words.size()));
    }
    constexpr std::size_t kEstimateFrom = 1024;
    if (entries.size() == kEstimateFrom) entries.reserve(kEstimateFrom + text.lines_left());
    const auto label = [&](std::size_t k) {
      return static_cast<int>(text.whole(words[k], "a label", 0, kLargestLabel));
    };
    entries.push_back({label(0), label(1), text.number(words[2], what)});
    lines.add(text.line_number());
  }

  // Replaces labels by coordinates and gathers the linear entries.
  PairProblem problem(bool spins, const ByteSource& source) && {
    if (entries.empty()) throw DataError(source.name + ": it has no entries, so no variables");
    PairProblem p;
    p.spins = spins;
    const std::vector<std::int64_t> labels = replace_labels();
    if (labels.size() > kMostLabels) throw DataError(source.name + ": it has too many labels");
    p.labels = number_labels(labels);
    p.linear.resize(labels.size());
    std::erase_if(entries, [&](const Coupling& c) {
      if (c.i == c.j) p.linear[static_cast<std::size_t>(c.i)] += c.weight;
      return c.i == c.j;
    });
    p.pairs = std::move(entries);
    return p;
  }

  std::vector<Coupling> entries;
  EntryLines lines;

 private:
  // Returns the labels. A table has a place for each possible label where they are dense.
  std::vector<std::int64_t> replace_labels() {
    int largest = 0;
    for (const Coupling& c : entries) largest = std::max({largest, c.i, c.j});
    const auto places = static_cast<std::size_t>(largest) + 1;
    std::vector<std::int64_t> labels;
    if (places > 4 * entries.size() + 1024) {
      for (const Coupling& c : entries) labels.push_back(c.i), labels.push_back(c.j);
      std::ranges::sort(labels);
      labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
      const auto place = [&](int label) {
        return static_cast<int>(std::ranges::lower_bound(labels, label) - labels.begin());
      };
      for (Coupling& c : entries) c.i = place(c.i), c.j = place(c.j);
      return labels;
    }
    std::vector<int> place(places, -1);
    for (const Coupling& c : entries) {
      place[static_cast<std::size_t>(c.i)] = place[static_cast<std::size_t>(c.j)] = 0;
    }
    for (std::size_t k = 0; k < places; ++k) {
      if (place[k] < 0) continue;
      place[k] = static_cast<int>(labels.size());
      labels.push_back(static_cast<std::int64_t>(k));
    }
    for (Coupling& c : entries) {
      c.i = place[static_cast<std::size_t>(c.i)];
      c.j = place[static_cast<std::size_t>(c.j)];
    }
    return labels;
  }
};

// What a comment says of the variables: "vartype=SPIN" or "vartype: BINARY"; empty: nothing.
std::string_view vartype_in(std::string_view comment) {
  constexpr std::string_view key = "vartype";
  for (std::size_t at = 0; (at = comment.find(key, at)) != comment.npos; at += key.size()) {
    std::string_view rest = comment.substr(at + key.size());
    if (!rest.starts_with('=') && !rest.starts_with(':')) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t", 1), rest.size()));
    rest = rest.substr(0, rest.find_first_of(" \t,;"));
    if (!rest.empty()) return rest;
  }
  return {};
}

}  // namespace

Model read_coo(const ByteSource& source, const ProblemOptions& options) {
  ProblemText text(source);
  std::string vartype = options.vartype;
  if (!vartype.empty() && vartype != "SPIN" && vartype != "BINARY") {
    throw UsageError("vartype is '" + vartype + "'; expected SPIN or BINARY");
  }
  LabelledEntries list;
  while (text.next_line()) {
    if (text.line().front() != '#') {
      list.add(text, "bias");
      continue;
    }
    const std::string_view said = vartype_in(text.line());
    if (said.empty()) continue;
    if (said != "SPIN" && said != "BINARY") {
      text.refuse("the vartype is " + in_quotes(said) + "; expected SPIN or BINARY");
    }
    if (!vartype.empty() && said != vartype) {
      text.refuse("the vartype is " + in_quotes(said) + ", but before it was said to be " +
                  vartype);
    }
    vartype = said;
  }
  if (vartype.empty()) {
    text.refuse_file(
        "nothing says whether its variables are SPIN or BINARY: add a line '# vartype=SPIN' or "
        "give "
        "the vartype");
  }
  PairProblem p = std::move(list).problem(vartype == "SPIN", source);
  add_up(p.pairs);
  return energy_model(std::move(p), options);
}

Model read_isakov(const ByteSource& source, const ProblemOptions& options) {
  ProblemText text(source);
  if (!text.next_line()) text.refuse_file("it is empty");
  // The first line is a name, even where it is empty: see line_number.
  LabelledEntries list;
  if (text.line_number() > 1) list.add(text, "coupling");
  while (text.next_line()) list.add(text, "coupling");
  if (const auto k = first_repeated(list.entries)) {
    text.set_line_number(list.lines.line_of(*k));
    text.refuse(fmt::format("the entry {} {} is there twice, in this order or the other",
                            list.entries[*k].i, list.entries[*k].j));
  }
  return energy_model(std::move(list).problem(true, source), options);
}

}  // namespace saltus
