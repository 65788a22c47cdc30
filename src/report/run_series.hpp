// What the plots of a run show, read from its draws in blocks: memory does not grow with the run,
// but for one coordinate that is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "report/plot.hpp"
#include "saltus/diagnose/chains.hpp"
#include "saltus/run/draws.hpp"

namespace saltus::report {

// Some coordinates along some chains, and how often their levels occur in all chains.
struct Columns {
  // By coordinate and chain: means of the values (or of a class's indicator) over `window` draws,
  // at most 100 of them.
  std::vector<std::vector<std::vector<double>>> means;
  std::size_t window = 1;
  // By coordinate: the number of draws at each level.
  std::vector<std::vector<std::uint64_t>> counts;
};

// The chains of the means are the first `chains` ones. `classes`: of unordered levels, the one of
// each coordinate whose indicator takes the place of the values; empty: values.
Columns read_columns(const Draws& draws, const std::vector<int>& coordinates, int chains,
                     const std::vector<int>& classes = {});

// Means over windows of the acceptance probabilities of one chain.
std::vector<double> acceptance_means(const Draws& draws, int chain, std::size_t window);

// A chain as a line, with a band from the least to the greatest value of each window of `window`
// draws around their mean. x is the middle of a window, the first draw being 1.
Series over_windows(std::span<const double> values, std::size_t window);

std::vector<double> read_logp(const Draws& draws, int chain);

// One coordinate as values, or as the indicator of a class (-1: values), as many chains and draws
// as 2 x 10^7 numbers allow: held in memory, as an autocorrelation reads it twice.
Chains held_column(const Draws& draws, int coordinate, int of_class = -1);
// log p, read anew each time.
Chains logp_chains(const Draws& draws);

// rho_k = c_k / c_0, c_k the mean over chains and times of (y_t - m)(y_{t+k} - m) with m the mean
// over all chains: chains that stay in different places stay correlated. NaN for a quantity that is
// constant or not finite.
std::vector<double> autocorrelation(const Chains& chains, std::span<const std::size_t> lags);

// 0 and up to 200 equally spaced lags, four times as far as the correlation time reaches.
std::vector<std::size_t> lags_for(double correlation_time, std::size_t draws);

}  // namespace saltus::report
