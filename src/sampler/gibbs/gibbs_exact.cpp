// The exact transition matrix of Gibbs sampling, in double precision.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus {
namespace {

using Block = std::vector<std::int32_t>;

// The states in sets whose members agree outside the block.
std::vector<std::vector<std::size_t>> fibres(const StateTable& table, const Block& block) {
  std::vector<std::vector<std::size_t>> by_first(table.size());
  std::vector<Symbol> y;
  for (std::size_t s = 0; s < table.size(); ++s) {
    y.assign(table.state(s), table.state(s) + table.domain().dim());
    for (std::int32_t i : block) y[static_cast<std::size_t>(i)] = 0;
    by_first[table.index(y.data())].push_back(s);
  }
  std::erase_if(by_first, [](const auto& fibre) { return fibre.empty(); });
  return by_first;
}

// Adds `share` times `matrix` with a draw of the block after it to `out`: the probability of each
// fibre is spread over it in proportion to pi.
void add_draw(const StateTable& table, const Block& block, Rows<const double> matrix, double share,
              Rows<double> out) {
  for (const std::vector<std::size_t>& fibre : fibres(table, block)) {
    double top = -INFINITY, sum = 0;
    for (std::size_t t : fibre) top = std::max(top, table.logp(t));
    // Where no state is possible, nothing is drawn.
    const bool possible = std::isfinite(top);
    for (std::size_t t : fibre) sum += possible ? std::exp(table.logp(t) - top) : 0;
    for (int s = 0; s < matrix.rows; ++s) {
      double inside = 0;
      for (std::size_t t : fibre) inside += matrix[s][t];
      for (std::size_t t : fibre) {
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDelete): no fibre is empty
        out[s][t] +=
            share * (possible ? inside * std::exp(table.logp(t) - top) / sum : matrix[s][t]);
      }
    }
  }
}

// All sets of `size` of the coordinates 0 .. dim-1.
std::vector<Block> subsets(int dim, int size) {
  std::vector<Block> all;
  Block set(static_cast<std::size_t>(size));
  std::iota(set.begin(), set.end(), 0);
  for (;;) {
    all.push_back(set);
    int k = size - 1;
    while (k >= 0 && set[static_cast<std::size_t>(k)] == dim - size + k) --k;
    if (k < 0) return all;
    std::iota(set.begin() + k, set.end(), set[static_cast<std::size_t>(k)] + 1);
  }
}

std::vector<std::int32_t> colours_of(const GibbsSweeps& sweeps) {
  std::vector<std::int32_t> order;
  for (int g = 0; g < sweeps.groups(); ++g) {
    for (std::int32_t i : sweeps.group(g)) order.push_back(i);
  }
  return order;
}

}  // namespace

// The blocks that a step draws, one after the other; a random scan draws any of the blocks of an
// entry.
std::vector<std::vector<Block>> Gibbs::blocks_of(const Target& target, const When& when) const {
  const int dim = target.domain().dim();
  std::vector<std::vector<Block>> list;
  if (options_.scan == GibbsOptions::Scan::random) {
    list.assign(static_cast<std::size_t>(updates_), subsets(dim, options_.block));
  } else if (by_colours()) {
    const auto order = knows_groups(target) ? colours_of(*target.gibbs_sweeps()) : colours_;
    for (std::int32_t i : order) list.push_back({{i}});
  } else {
    const Scan scan = scan_of(options_, target.domain());
    Scratch scratch;
    for (std::uint64_t u = first_update(when.step); u < first_update(when.step + 1); ++u) {
      const auto block = scan.block(when.seed, u, scratch);
      list.push_back({Block(block.begin(), block.end())});
    }
  }
  return list;
}

void Gibbs::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                              std::span<double> acceptance) const {
  const int states = static_cast<int>(table.size());
  for (int s = 0; s < states; ++s) {
    std::fill_n(matrix[s], states, 0.0);
    matrix[s][s] = 1;
  }
  RowBuffer<double> next(states, states);
  for (const std::vector<Block>& choice : blocks_of(table.target(), when)) {
    for (int s = 0; s < states; ++s) std::fill_n(next.view()[s], states, 0.0);
    const double share = 1.0 / static_cast<double>(choice.size());
    for (const Block& block : choice) add_draw(table, block, matrix, share, next.view());
    for (int s = 0; s < states; ++s) std::copy_n(next.view()[s], states, matrix[s]);
  }
  std::fill(acceptance.begin(), acceptance.end(), 1.0);
}

int Gibbs::phases(const Domain& domain) const {
  if (by_colours() || options_.scan == GibbsOptions::Scan::random) return 1;
  const int blocks = scan_of(options_, domain).blocks();
  return blocks / std::gcd(blocks, updates_);
}

}  // namespace saltus
