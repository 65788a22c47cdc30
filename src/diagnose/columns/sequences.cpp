#include "diagnose/columns/sequences.hpp"

#include <cmath>
#include <numeric>

namespace saltus {

bool too_short(const Chains& chains) {
  return chains.chains < 1 || chains.draws < 4;
}

Sequences whole_chains(const Chains& chains) {
  return {chains.chains, chains.draws, [&chains](const Sequences::Visitor& visit) {
            std::vector<double> buffer(chains.draws);
            for (int c = 0; c < chains.chains; ++c) {
              chains.read(c, buffer);
              visit(buffer);
            }
          }};
}

Sequences half_chains(const Chains& chains) {
  const std::size_t half = chains.draws / 2;
  const Sequences whole = whole_chains(chains);
  return {2 * chains.chains, half, [whole, half](const Sequences::Visitor& visit) {
            whole.for_each([&](std::span<double> chain) {
              visit(chain.first(half));
              visit(chain.last(half));
            });
          }};
}

Sequences changed(const Sequences& sequences, const Sequences::Visitor& change) {
  return {sequences.count, sequences.length, [sequences, change](const Sequences::Visitor& visit) {
            sequences.for_each([&](std::span<double> x) {
              change(x);
              visit(x);
            });
          }};
}

double centre(std::span<double> x) {
  if (x.empty()) return 0;
  // Relative to the first entry, so that equal entries leave no rounding error behind.
  const double first = x.front();
  double sum = 0;
  for (const double value : x) sum += value - first;
  const double mean = first + sum / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
  return mean;
}

double sum_of_squares(std::span<const double> x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

double sample_variance(std::vector<double> x) {
  centre(x);
  return sum_of_squares(x) / (static_cast<double>(x.size()) - 1);
}

SequenceMoments moments_of(const Sequences& sequences) {
  SequenceMoments moments;
  sequences.for_each([&](std::span<double> x) {
    moments.means.push_back(centre(x));
    moments.squares += sum_of_squares(x);
  });
  return moments;
}

double plain_rhat(const SequenceMoments& moments, std::size_t length) {
  const double n = static_cast<double>(length);
  const double within = moments.squares / (static_cast<double>(moments.means.size()) * (n - 1));
  const double between = sample_variance(moments.means);
  // 0/0 is NaN and a positive number over 0 infinity, as wanted.
  return std::sqrt(((n - 1) / n * within + between) / within);
}

}  // namespace saltus
