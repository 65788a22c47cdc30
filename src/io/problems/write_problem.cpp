// Models in the formats of other programs: E = -log p.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/closest_name.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/bytes/words.hpp"
#include "io/factors/factor_forms.hpp"
#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "io/problems/problem_writers.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// A problem on its way to a file.
struct Outgoing {
  PairProblem problem;
  LeavingOut leaving;

  double terms() const {  // the size of the numbers that the constant may be a sum of
    double sum = std::abs(problem.offset);
    for (const double v : problem.linear) sum += std::abs(v);
    for (const Coupling& c : problem.pairs) sum += std::abs(c.weight);
    return sum;
  }
  // For formats that have no place for a constant, but for the one that is `implied`.
  void drop_constant(double implied = 0) {
    const double rest = problem.offset - implied;
    if (std::abs(rest) <= kSumRounding * terms()) return;
    leaving.constant(rest);
    problem.offset = implied;
  }
  void drop_labels() { leaving.all_names(problem.labels); }
};

// The digits that restore a number, without an exponent.
std::string in_fixed_digits(double v) {
  char text[512];
  const auto [end, error] = std::to_chars(text, text + sizeof text, v, std::chars_format::fixed);
  return error == std::errc{} ? std::string(text, end) : fmt::format("{}", v);
}

std::string spelled(const std::vector<std::string>& labels, std::size_t n) {
  std::string text = "[";
  for (std::size_t i = 0; i < n; ++i) {
    text += (i ? ", " : "") + (labels.empty() ? std::to_string(i) : labels[i]);
  }
  return text + "]";
}

const char* vartype_of(const PairProblem& p) {
  return p.spins ? "SPIN" : "BINARY";
}

void write_rudy(Outgoing& out, OutputFile& file) {
  out.problem = as_spins(std::move(out.problem));
  const PairProblem& p = out.problem;
  const double size = out.terms();
  for (std::size_t i = 0; i < p.linear.size(); ++i) {
    if (std::abs(p.linear[i]) <= kSumRounding * size) continue;
    out.leaving.refuse(fmt::format(
        "a cut has no place for fields, and variable {} has the field {}", i, p.linear[i]));
  }
  out.drop_labels();
  double sum = 0;
  for (const Coupling& c : p.pairs) sum += 2 * c.weight;
  out.drop_constant(-sum / 2);
  file.append(fmt::format("{} {}\n", p.size(), p.pairs.size()));
  for (const Coupling& c : p.pairs)
    file.append(fmt::format("{} {} {}\n", c.i + 1, c.j + 1, 2 * c.weight));
}

void write_bq(Outgoing& out, OutputFile& file) {
  out.problem = as_bits(std::move(out.problem));
  out.drop_labels();
  out.drop_constant();
  const PairProblem& p = out.problem;
  const auto nodes = p.linear.size() - static_cast<std::size_t>(std::ranges::count(p.linear, 0.0));
  file.append(fmt::format("{} {}\n", p.size(), nodes + p.pairs.size()));
  for (std::size_t i = 0; i < p.linear.size(); ++i) {
    if (p.linear[i] != 0) file.append(fmt::format("{0} {0} {1}\n", i + 1, p.linear[i]));
  }
  for (const Coupling& c : p.pairs)
    file.append(fmt::format("{} {} {}\n", c.i + 1, c.j + 1, c.weight / 2));
}

void write_qubo(Outgoing& out, OutputFile& file) {
  out.problem = as_bits(std::move(out.problem));
  out.drop_labels();
  out.drop_constant();
  const PairProblem& p = out.problem;
  const auto nodes = p.linear.size() - static_cast<std::size_t>(std::ranges::count(p.linear, 0.0));
  file.append(fmt::format("p qubo 0 {} {} {}\n", p.size(), nodes, p.pairs.size()));
  for (std::size_t i = 0; i < p.linear.size(); ++i) {
    if (p.linear[i] != 0) file.append(fmt::format("{0} {0} {1}\n", i, p.linear[i]));
  }
  for (const Coupling& c : p.pairs) {
    file.append(fmt::format("{} {} {}\n", std::min(c.i, c.j), std::max(c.i, c.j), c.weight));
  }
}

// Labels that are whole numbers in increasing order are those of the format; a variable without
// entries gets a bias of 0, because labels are known from entries alone.
void write_coo(Outgoing& out, OutputFile& file) {
  std::vector<std::int64_t> names;
  for (const std::string& label : out.problem.labels.coordinates) {
    const auto number = number_in<std::int64_t>(label);
    const bool fits =
        number && *number >= 0 && *number <= INT32_MAX && (names.empty() || *number > names.back());
    if (!fits) {
      names.clear();
      break;
    }
    names.push_back(*number);
  }
  names.empty() ? out.drop_labels() : out.leaving.levels(out.problem.labels);
  out.drop_constant();
  const PairProblem& p = out.problem;
  std::vector<bool> mentioned(p.linear.size());
  for (const Coupling& c : p.pairs) {
    mentioned[static_cast<std::size_t>(c.i)] = mentioned[static_cast<std::size_t>(c.j)] = true;
  }
  const auto name = [&](int i) { return names.empty() ? i : names[static_cast<std::size_t>(i)]; };
  file.append(fmt::format("# vartype={}\n", vartype_of(p)));
  for (int i = 0; i < p.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (mentioned[at] && p.linear[at] == 0) continue;
    file.append(fmt::format("{0} {0} {1}\n", name(i), in_fixed_digits(p.linear[at])));
  }
  for (const Coupling& c : p.pairs) {
    file.append(fmt::format("{} {} {}\n", name(c.i), name(c.j), in_fixed_digits(c.weight)));
  }
}

// List after list of numbers, so that the text is never whole in memory.
void write_dimod_json(Outgoing& out, OutputFile& file) {
  out.leaving.levels(out.problem.labels);
  const PairProblem& p = out.problem;
  const auto list = [&](const char* field, const auto& items, auto text) {
    file.append(fmt::format(",\n \"{}\": [", field));
    const char* before = "";
    for (const auto& item : items) {
      file.append(before + text(item));
      before = ", ";
    }
    file.append("]");
  };
  const auto number = [](double v) { return fmt::format("{}", v); };
  file.append(fmt::format(
      "{{\"type\": \"BinaryQuadraticModel\", \"version\": {{\"bqm_schema\": \"3.0.0\"}},\n"
      " \"use_bytes\": false, \"index_type\": \"int32\", \"bias_type\": \"float64\",\n"
      " \"num_variables\": {}, \"num_interactions\": {}, \"variable_type\": \"{}\", \"offset\": "
      "{},\n"
      " \"info\": {{}}, \"variable_labels\": {}",
      p.size(), p.pairs.size(), vartype_of(p), p.offset,
      spelled(p.labels.coordinates, p.linear.size())));
  list("linear_biases", p.linear, number);
  list("quadratic_biases", p.pairs, [&](const Coupling& c) { return number(c.weight); });
  list("quadratic_head", p.pairs, [](const Coupling& c) { return std::to_string(c.i); });
  list("quadratic_tail", p.pairs, [](const Coupling& c) { return std::to_string(c.j); });
  file.append("}\n");
}

template <class T>
void append_number(OutputFile& file, T value) {
  file.append(&value, sizeof value);
}

// Version 2.0: int32 and float64, each pair in both neighbourhoods.
void write_bqm(Outgoing& out, OutputFile& file) {
  constexpr std::size_t kBlock = 64;  // the header and the labels end at multiples of it
  out.leaving.levels(out.problem.labels);
  PairProblem& p = out.problem;
  const std::size_t n = p.linear.size(), m = p.pairs.size();
  if (2 * m > INT32_MAX) out.leaving.refuse("more pairs than its 32-bit numbers can count");
  std::string header = fmt::format(
      "{{\"dtype\": \"float64\", \"itype\": \"int32\", \"ntype\": \"int32\", \"shape\": [{}, {}], "
      "\"type\": \"BinaryQuadraticModel\", \"variables\": {}, \"vartype\": \"{}\"}}\n",
      n, m, !p.labels.coordinates.empty(), vartype_of(p));
  while ((14 + header.size()) % kBlock != 0) header += ' ';
  file.append(std::string("DIMODBQM\x02\x00", 10));
  append_number(file, static_cast<std::uint32_t>(header.size()));
  file.append(header);
  append_number(file, p.offset);
  add_up(p.pairs);  // in increasing order
  std::vector<std::int32_t> begin(n + 1);
  for (const Coupling& c : p.pairs) {
    ++begin[static_cast<std::size_t>(c.i) + 1];
    ++begin[static_cast<std::size_t>(c.j) + 1];
  }
  for (std::size_t i = 0; i < n; ++i) {
    begin[i + 1] += begin[i];
    append_number(file, begin[i]);
    append_number(file, p.linear[i]);
  }
  // Those before a variable come with increasing i, then those behind it with increasing j.
  std::vector<std::uint32_t> order(2 * m);
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  const auto put = [&](int at, std::size_t k) {
    order[static_cast<std::size_t>(next[static_cast<std::size_t>(at)]++)] =
        static_cast<std::uint32_t>(k);
  };
  for (std::size_t k = 0; k < m; ++k) put(p.pairs[k].j, k);
  for (std::size_t k = 0; k < m; ++k) put(p.pairs[k].i, k);
  for (std::size_t v = 0; v < n; ++v) {
    for (auto e = static_cast<std::size_t>(begin[v]); e < static_cast<std::size_t>(begin[v + 1]);
         ++e) {
      const Coupling& c = p.pairs[order[e]];
      append_number(file, static_cast<std::int32_t>(c.i + c.j - static_cast<int>(v)));
      append_number(file, c.weight);
    }
  }
  if (p.labels.coordinates.empty()) return;
  std::string labels = spelled(p.labels.coordinates, n);
  while ((8 + labels.size()) % kBlock != 0) labels += ' ';
  file.append("VARS");
  append_number(file, static_cast<std::uint32_t>(labels.size()));
  file.append(labels);
}

struct WritableFormat {
  std::string_view name, endings;
  void (*write)(Outgoing& out, OutputFile& file);  // of pairs
  void (*write_graph)(const FactorsModel& graph, LeavingOut& leaving, OutputFile& file);
};
constexpr WritableFormat kWritable[] = {{"rudy", ".mc .rud .rudy", write_rudy, nullptr},
                                        {"bq", ".bq .sparse", write_bq, nullptr},
                                        {"qubo", ".qubo", write_qubo, nullptr},
                                        {"coo", ".coo", write_coo, nullptr},
                                        {"dimod-json", ".dimod.json", write_dimod_json, nullptr},
                                        {"bqm", ".bqm", write_bqm, nullptr},
                                        {"uai", ".uai", nullptr, write_uai},
                                        {"wcnf", ".wcnf", nullptr, write_wcnf}};

const WritableFormat* writable_by_name(const fs::path& path) {
  const std::string name = lower_cased(path.filename().string());
  for (const WritableFormat& format : kWritable) {
    for (const std::string& ending : split_list(format.endings, ' ')) {
      if (name.ends_with(ending)) return &format;
    }
  }
  return nullptr;
}

const WritableFormat& writable(const fs::path& path, const std::string& name) {
  if (name.empty()) {
    if (const WritableFormat* format = writable_by_name(path)) return *format;
    throw UsageError("the name " + path.string() + " tells no format; expected " +
                     writable_problem_formats());
  }
  std::vector<std::string> names;
  for (const WritableFormat& format : kWritable) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw UsageError("models are not written in the format '" + name + "'; expected " +
                   writable_problem_formats() + did_you_mean(name, names));
}

}  // namespace

std::string writable_problem_formats() {
  std::string text = "json (.json)";
  for (const WritableFormat& format : kWritable) {
    text += fmt::format(", {} ({})", format.name, format.endings);
  }
  return text;
}

bool names_problem_file(const fs::path& path) {
  return writable_by_name(path) != nullptr;
}

std::vector<std::string> write_problem(const fs::path& path, const AnyModel& model,
                                       const ProblemWriting& writing) {
  const WritableFormat& format = writable(path, writing.format);
  LeavingOut leaving(path, writing);
  if (format.write_graph) {
    const std::optional<FactorsModel> graph = graph_of_model(model);
    if (!graph) {
      leaving.refuse("the format " + std::string(format.name) +
                     " holds factors over few variables, and this model is not made of such");
    }
    Labels labels = labels_of(model);
    leaving.all_names(labels);
    replace_file(path, [&](OutputFile& file) { format.write_graph(*graph, leaving, file); });
    return leaving.done();
  }
  std::optional<PairProblem> problem = pair_problem_of(model);
  if (!problem) {
    leaving.refuse("the format " + std::string(format.name) +
                   " holds variables of two levels with couplings of pairs, and this model has "
                   "others; json holds it");
  }
  Outgoing out{std::move(*problem), std::move(leaving)};
  replace_file(path, [&](OutputFile& file) { format.write(out, file); });
  return out.leaving.done();
}

}  // namespace saltus
