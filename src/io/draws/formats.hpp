// The formats behind write_draws and open_draws. Writers fill the file at `path`; errors call it
// `name`, because `path` is a temporary one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/run/draws.hpp"

namespace saltus {

// The draws of a chain are read and written a block at a time: what is held in memory does not grow
// with the run. How many entries a reader and a writer take at a time:
constexpr std::size_t kReadEntries = std::size_t{1} << 18, kBlockEntries = std::size_t{1} << 19;

void write_npz_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws);
std::unique_ptr<Draws> open_npz_draws(const std::filesystem::path& path);

void write_csv_draws(const std::filesystem::path& path, const std::string& name,
                     const Draws& draws);
std::unique_ptr<Draws> open_csv_draws(const std::filesystem::path& path);

// Defined where saltus is built with netCDF.
void write_netcdf_draws(const std::filesystem::path& path, const std::string& name,
                        const Draws& draws);
std::unique_ptr<Draws> open_netcdf_draws(const std::filesystem::path& path);

// DrawsInfo::classes from the numbers of a file; false where they cannot be that.
inline bool take_classes(std::span<const double> numbers, int dim, DrawsInfo& info) {
  constexpr double kMost = 65536;  // what a Symbol can hold
  if (numbers.size() != 1 && numbers.size() != static_cast<std::size_t>(dim)) return false;
  for (const double n : numbers) {
    if (!(n >= 1 && n <= kMost && n == std::floor(n))) return false;
    info.classes.push_back(static_cast<int>(n));
  }
  info.levels = std::max(info.levels, std::ranges::max(info.classes));
  return true;
}

// DrawsInfo::bonds from the numbers of a file; false where they cannot be that.
inline bool take_bonds(std::span<const double> numbers, int dim, DrawsInfo& info) {
  if (numbers.size() % 2 != 0) return false;
  for (const double n : numbers) {
    if (!(n >= 0 && n < dim && n == std::floor(n))) return false;
    info.bonds.push_back(static_cast<int>(n));
  }
  return true;
}

// The draws whose states make up one block.
inline int block_rows(const Draws& draws) {
  const std::size_t dim = std::max<std::size_t>(1, static_cast<std::size_t>(draws.dim()));
  return static_cast<int>(
      std::clamp(draws.draws(), std::size_t{1}, std::max(std::size_t{1}, kBlockEntries / dim)));
}

// Calls f(first, states) for the blocks of a chain, in order; `rows` is the draws of a block, whose
// states stand one after the other.
template <class F>
void for_each_state_block(const Draws& draws, int chain, int rows, F&& f) {
  // Without the padding of a RowBuffer, which would dwarf draws of few coordinates.
  const auto dim = static_cast<std::size_t>(draws.dim());
  std::vector<Symbol> buffer(static_cast<std::size_t>(rows) * dim);
  for (std::size_t first = 0; first < draws.draws();) {
    const int n = static_cast<int>(std::min(static_cast<std::size_t>(rows), draws.draws() - first));
    const Rows<Symbol> x = {buffer.data(), n, draws.dim(), draws.dim()};
    draws.read_states(chain, first, x);
    f(first, std::span<const Symbol>(x.data, static_cast<std::size_t>(n) * dim));
    first += static_cast<std::size_t>(x.rows);
  }
}

// Calls f(first, numbers) for the blocks of a chain; `read` is Draws::read_logp or
// Draws::read_acceptance.
template <class T, class F>
void for_each_number_block(const Draws& draws, int chain,
                           void (Draws::*read)(int, std::size_t, std::span<T>) const, F&& f) {
  std::vector<T> buffer(std::min(draws.draws(), kBlockEntries));
  for (std::size_t first = 0; first < draws.draws();) {
    const std::span<T> block =
        std::span(buffer).first(std::min(buffer.size(), draws.draws() - first));
    (draws.*read)(chain, first, block);
    f(first, std::span<const T>(block));
    first += block.size();
  }
}

}  // namespace saltus
