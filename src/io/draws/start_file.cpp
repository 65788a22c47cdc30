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

}  // namespace

RowBuffer<Symbol> read_start_file(const std::string& path, int chains, const Domain& domain) {
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
  if (rows != chains) {
    throw DataError(path + " has " + std::to_string(rows) + " rows; the run has " +
                    std::to_string(chains) + " chains");
  }
  return states;
}

}  // namespace saltus
