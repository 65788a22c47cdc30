#include "sampler/constrained/conditional_updates.hpp"

#include <algorithm>

namespace saltus {
namespace {

void copy(Rows<const double> from, Rows<double> to) {
  for (int i = 0; i < from.rows; ++i) std::copy_n(from[i], from.rows, to[i]);
}

void multiply(Rows<const double> a, Rows<const double> b, Rows<double> product) {
  for (int i = 0; i < a.rows; ++i) {
    std::fill_n(product[i], a.rows, 0.0);
    for (int k = 0; k < a.rows; ++k) {
      if (a[i][k] == 0) continue;
      for (int j = 0; j < a.rows; ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
}

}  // namespace

void finish_updates(const Target& target, Tile& tile, Workspace& work, bool changed) {
  ++tile.step;
  tile.score_current = tile.target_cache_current = false;
  if (changed) tile.logp_current = false;
  if (!work.want_logp || tile.logp_current) return;
  target.evaluate(work.at(tile.step), tile.x, tile.logp, {});
  tile.logp_current = true;
  work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
}

void take_power(Rows<const double> one, int power, Rows<double> matrix) {
  const RowBuffer<double> before(one.rows, one.rows);
  copy(one, matrix);
  for (int u = 1; u < power; ++u) {
    copy(matrix, before.view());
    multiply(before.view(), one, matrix);
  }
}

}  // namespace saltus
