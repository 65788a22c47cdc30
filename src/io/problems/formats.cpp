#include "io/problems/formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/closest_name.hpp"
#include "io/bytes/words.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr ProblemFormat kFormats[] = {
    {"rudy", ".mc .rud .rudy .txt", "", "problem penalty colours parts", read_rudy},
    {"bq", ".bq .sparse", "", "maximise", read_bq},
    {"qubo", ".qubo", "p qubo|P qubo", "maximise", read_qubo},
    {"coo", ".coo", "", "vartype", read_coo},
    {"dimod-json", "", "", "", read_dimod_json},
    {"bqm", ".bqm", "DIMODBQM", "", read_bqm},
    {"isakov", ".isakov", "", "", read_isakov},
    {"uai", ".uai", "MARKOV|BAYES", "", read_uai},
    {"lg", ".lg", "", "", read_lg},
    {"fg", ".fg", "", "", read_fg},
    {"cnf", ".cnf", "p cnf", "hard problem penalty", read_cnf},
    {"wcnf", ".wcnf", "p wcnf", "", read_wcnf},
    {"dimacs", ".col .clq", "p edge|p col", "problem penalty colours parts", read_dimacs_graph},
    {"plmc", ".params", "", "", read_plmc},
    {"potts-npz", ".npz", "", "", read_potts_npz},
};

// Contents that another program must change first, by how they begin.
struct Refused {
  std::string_view start;
  const char* why;
};
constexpr Refused kRefused[] = {
    {"\xfd"
     "7zXZ",
     "it is packed by xz: unpack it first"},
    {"BZh", "it is packed by bzip2: unpack it first"},
    {"\x28\xb5\x2f\xfd", "it is packed by zstd: unpack it first"},
    {"DIMODCQM",
     "it is a constrained model (CQM) of dimod; binary quadratic models (BQM) are read"},
    {"DIMODDQM", "it is a discrete model (DQM) of dimod; binary quadratic models (BQM) are read"},
    {"DIMODQM", "it is a quadratic model (QM) of dimod; binary quadratic models (BQM) are read"},
    {"DIMODEXPR", "it is an expression of dimod; binary quadratic models (BQM) are read"},
};

// The first line of a text that is neither empty nor a comment, without the blanks around it.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool comment = line.starts_with('#') || line.starts_with("c ") || line == "c";
    if (!line.empty() && !comment) return line;
  }
  return {};
}

// Whether `word` is one of the words of `list`.
bool is_among(std::string_view list, std::string_view word, char separator) {
  for (const std::string& each : split_list(list, separator)) {
    if (!each.empty() && each == word) return true;
  }
  return false;
}

// "G22": the names of the files of G-set.
bool is_gset_name(std::string_view name) {
  return name.size() > 1 && name.size() < 5 && name[0] == 'G' &&
         name.find_first_not_of("0123456789", 1) == name.npos;
}

const ProblemFormat* format_named(const std::string& name) {
  const auto found = std::ranges::find(kFormats, name, &ProblemFormat::name);
  if (found != std::end(kFormats)) return found;
  std::vector<std::string> names = {"json"};
  for (const ProblemFormat& format : kFormats) names.emplace_back(format.name);
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  throw UsageError("the format '" + name + "' is not known; expected one of " + list +
                   did_you_mean(name, names));
}

const ProblemFormat* by_content(const ByteSource& source, std::string_view start) {
  const std::string_view line = first_line(start);
  for (const ProblemFormat& format : kFormats) {
    for (const std::string& word : split_list(format.starts, '|')) {
      if (!word.empty() && line.starts_with(word)) return &format;
    }
  }
  double number = 0;
  if (!line.empty() && number_in_decimals(line.substr(0, line.find_first_of(" \t")), number)) {
    throw DataError(
        source.name +
        ": two numbers in the first line may mean a graph or a matrix, and the name does "
        "not tell: name the format, rudy or bq (--format)");
  }
  throw DataError(
      source.name +
      ": neither its name nor its beginning tells what it is: name the format (--format)");
}

const ProblemFormat* found_format(const ByteSource& source, const ProblemOptions& options) {
  constexpr std::size_t kLooked = std::size_t{1} << 16;
  const std::string start = beginning_of(source, kLooked);
  for (const Refused& refused : kRefused) {
    if (start.starts_with(refused.start)) throw DataError(source.name + ": " + refused.why);
  }
  if (start.starts_with("DIMODBQM")) return format_named("bqm");
  if (options.format == "json") return nullptr;
  if (!options.format.empty()) return format_named(options.format);
  const bool json = first_line(start).starts_with('{');
  if (json) return looks_like_dimod(start) ? format_named("dimod-json") : nullptr;
  std::filesystem::path name = std::filesystem::path(source.name).filename();
  if (lower_cased(name.extension().string()) == ".gz") name = name.stem();
  const std::string ending = lower_cased(name.extension().string());
  if (ending == ".json") return nullptr;
  if (is_gset_name(name.string())) return format_named("rudy");
  for (const ProblemFormat& format : kFormats) {
    if (is_among(format.endings, ending, ' ')) return &format;
  }
  return by_content(source, start);
}

}  // namespace

std::span<const ProblemFormat> problem_formats() {
  return kFormats;
}

bool looks_like_dimod(std::string_view text) {
  return text.find("\"bqm_schema\"") != text.npos || text.find("\"quadratic_head\"") != text.npos;
}

const ProblemFormat* format_of(const ByteSource& source, const ProblemOptions& options) {
  const ProblemFormat* format = found_format(source, options);
  const std::string_view used = format ? format->options : "";
  const std::pair<const char*, bool> given[] = {{"maximise", options.maximise},
                                                {"vartype", !options.vartype.empty()},
                                                {"problem", !options.problem.empty()},
                                                {"penalty", options.penalty.has_value()},
                                                {"colours", options.colours != 0},
                                                {"parts", options.parts != 0},
                                                {"hard", options.hard}};
  for (const auto& [option, is_given] : given) {
    if (!is_given || is_among(used, option, ' ')) continue;
    throw UsageError(fmt::format("--{} has no place here: {} is a file of the format {}", option,
                                 source.name, format ? format->name : "json"));
  }
  return format;
}

}  // namespace saltus
