// The formats of problem files: how each is told from the others, read and written. See
// docs/formats.md for what each field means.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "io/bytes/byte_source.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {

struct ProblemFormat {
  std::string_view name;     // as ProblemOptions::format says it
  std::string_view endings;  // of names of files, in small letters: ".mc .rud"
  std::string_view starts;   // how the first line of such files begins, by '|'; empty: no such rule
  std::string_view options;  // of ProblemOptions that mean something here
  Model (*read)(const ByteSource& source, const ProblemOptions& options);
};

// All that are read; saltus's own JSON is not among them.
std::span<const ProblemFormat> problem_formats();

// The format of a file, by its first bytes, the options, its name and its first word. Null:
// saltus's own JSON. Throws DataError where none fits, or where a program must unpack the file
// first, and UsageError for options that the format has no use for.
const ProblemFormat* format_of(const ByteSource& source, const ProblemOptions& options);

// Whether JSON text, read as an object, is a binary quadratic model of dimod.
bool looks_like_dimod(std::string_view text);

Model read_rudy(const ByteSource& source, const ProblemOptions& options);
Model read_bq(const ByteSource& source, const ProblemOptions& options);
Model read_qubo(const ByteSource& source, const ProblemOptions& options);
Model read_coo(const ByteSource& source, const ProblemOptions& options);
Model read_isakov(const ByteSource& source, const ProblemOptions& options);
Model read_dimod_json(const ByteSource& source, const ProblemOptions& options);
Model read_bqm(const ByteSource& source, const ProblemOptions& options);
Model read_plmc(const ByteSource& source, const ProblemOptions& options);
Model read_potts_npz(const ByteSource& source, const ProblemOptions& options);
Model read_uai(const ByteSource& source, const ProblemOptions& options);
Model read_lg(const ByteSource& source, const ProblemOptions& options);
Model read_fg(const ByteSource& source, const ProblemOptions& options);
Model read_cnf(const ByteSource& source, const ProblemOptions& options);
Model read_wcnf(const ByteSource& source, const ProblemOptions& options);
Model read_dimacs_graph(const ByteSource& source, const ProblemOptions& options);

}  // namespace saltus
