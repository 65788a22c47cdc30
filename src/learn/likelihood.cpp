#include "saltus/learn/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr int kLeastTile = 16;

void check_rows(const Domain& domain, Rows<const Symbol> data) {
  if (data.rows < 1) throw DataError("there are no rows of data");
  if (data.cols != domain.dim()) {
    throw DataError("the data have rows of " + std::to_string(data.cols) +
                    " entries, but the model has " + std::to_string(domain.dim()) + " coordinates");
  }
  for (int r = 0; r < data.rows; ++r) {
    for (int i = 0; i < data.cols; ++i) {
      if (data[r][i] < domain.levels(i)) continue;
      throw DataError("row " + std::to_string(r) + " of the data has level " +
                      std::to_string(data[r][i]) + " at coordinate " + std::to_string(i) +
                      ", which has " + std::to_string(domain.levels(i)) + " levels");
    }
  }
}

}  // namespace

double mean_logp(const Target& target, Rows<const Symbol> data, int threads) {
  check_rows(target.domain(), data);
  const int tile = std::max(kLeastTile, target.preferred_tile());
  const int tiles = (data.rows + tile - 1) / tile;
  ThreadPool pool(tiles == 1 ? 1 : threads);
  std::vector<Scratch> scratch(static_cast<std::size_t>(pool.threads()));
  std::vector<double> logp(static_cast<std::size_t>(data.rows));
  pool.for_each(tiles, [&](int t, int thread) {
    const int first = t * tile, rows = std::min(tile, data.rows - first);
    const Rows<const Symbol> some{data[first], rows, data.cols, data.stride};
    target.evaluate({0, 0, scratch[static_cast<std::size_t>(thread)]}, some, logp.data() + first,
                    {});
  });
  for (std::size_t r = 0; r < logp.size(); ++r) {
    if (std::isfinite(logp[r])) continue;
    throw DataError("log p of row " + std::to_string(r) + " of the data is not finite");
  }
  return std::accumulate(logp.begin(), logp.end(), 0.0) / data.rows;
}

}  // namespace saltus
