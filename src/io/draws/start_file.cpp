#include "saltus/io/draw_files.hpp"

#include <fstream>
#include <vector>

#include "io/bytes/words.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::vector<std::string> words(const std::string& line) {
  const char* separators = ", \t\r;";
  std::vector<std::string> list;
  for (std::size_t at = 0; (at = line.find_first_not_of(separators, at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    list.push_back(line.substr(at, end - at));
    at = end;
  }
  return list;
}

void read_row(const std::string& where, const std::vector<std::string>& row, const Domain& domain,
              Symbol* x) {
  if (static_cast<int>(row.size()) != domain.dim()) {
    throw DataError(where + " has " + std::to_string(row.size()) + " entries; the model has " +
                    std::to_string(domain.dim()) + " coordinates");
  }
  for (int i = 0; i < domain.dim(); ++i) {
    const std::string& word = row[static_cast<std::size_t>(i)];
    const int level = number_in<int>(word).value_or(-1);
    if (level < 0 || level >= domain.levels(i)) {
      throw DataError(where + ", entry " + std::to_string(i) + " is '" + word +
                      "'; it must be a level index from 0 to " +
                      std::to_string(domain.levels(i) - 1));
    }
    x[i] = static_cast<Symbol>(level);
  }
}

// A file that --out wrote: .npz, .nc, or .csv with its line of names.
bool holds_draws(const std::string& path) {
  const std::string extension = lower_cased(std::filesystem::path(path).extension().string());
  if (extension == ".npz" || extension == ".nc") return true;
  std::ifstream file(path);
  std::string first;
  return extension == ".csv" && std::getline(file, first) && first.starts_with("chain,draw,");
}

void check_rows(const std::string& path, const char* what, int rows, int chains) {
  if (rows == chains) return;
  throw DataError(path + " has " + std::to_string(rows) + " " + what + "; the run has " +
                  std::to_string(chains) + " chains");
}

// The last draw of every chain.
RowBuffer<Symbol> last_draws(const std::string& path, int chains, const Domain& domain) {
  const std::unique_ptr<Draws> draws = open_draws(path);
  check_rows(path, "chains", draws->chains(), chains);
  if (draws->dim() != domain.dim() || draws->draws() == 0) {
    throw DataError(path + " has " + std::to_string(draws->draws()) + " draws of " +
                    std::to_string(draws->dim()) + " coordinates; the model has " +
                    std::to_string(domain.dim()) + " coordinates");
  }
  RowBuffer<Symbol> states(chains, domain.dim());
  for (int c = 0; c < chains; ++c) {
    Symbol* x = states.view()[c];
    draws->read_states(c, draws->draws() - 1, {x, 1, domain.dim(), domain.dim()});
    for (int i = 0; i < domain.dim(); ++i) {
      if (x[i] < domain.levels(i)) continue;
      throw DataError(path + ": the last draw of chain " + std::to_string(c) + " has level " +
                      std::to_string(x[i]) + " at coordinate " + std::to_string(i) +
                      "; the model's levels there are 0 to " +
                      std::to_string(domain.levels(i) - 1));
    }
  }
  return states;
}

}  // namespace

RowBuffer<Symbol> read_start_file(const std::string& path, int chains, const Domain& domain) {
  if (holds_draws(path)) return last_draws(path, chains, domain);
  std::ifstream file(path);
  if (!file) throw FileError("cannot read the starting states " + path, false);
  RowBuffer<Symbol> states(chains, domain.dim());
  int rows = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::vector<std::string> row = words(line);
    if (row.empty()) continue;
    if (rows < chains)
      read_row(path + ": line " + std::to_string(number), row, domain, states.view()[rows]);
    ++rows;
  }
  check_rows(path, "rows", rows, chains);
  return states;
}

}  // namespace saltus
