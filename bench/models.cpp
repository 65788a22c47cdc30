#include "bench/models.hpp"

#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "saltus/core/philox.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus::bench {
namespace {

constexpr std::uint64_t kSeed = 20220617;

// A random order of 0 .. n-1 (Fisher-Yates).
std::vector<int> shuffled(int n, std::uint32_t which) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const Stream stream(kSeed, which, 0, Purpose::check);
  for (std::size_t i = order.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(stream.uniform(static_cast<std::uint32_t>(i)) *
                                            static_cast<double>(i));
    std::swap(order[i - 1], order[j]);
  }
  return order;
}

}  // namespace

std::vector<double> uniform_numbers(std::size_t count, double low, double high) {
  const Stream stream(kSeed, 0, 1, Purpose::check);
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = low + (high - low) * stream.uniform(static_cast<std::uint32_t>(i));
  }
  return numbers;
}

std::unique_ptr<Target> lattice(int side) {
  return std::make_unique<IsingLattice>(side, side, true, 0.1, 0.2);
}

// Every closed tour through all sites in random order gives each site two neighbours.
std::unique_ptr<Target> random_graph(int n, int degree) {
  std::set<std::pair<int, int>> edges;
  for (int tour = 0; tour < degree / 2; ++tour) {
    const std::vector<int> order = shuffled(n, static_cast<std::uint32_t>(tour));
    int before = order.back();
    for (int site : order) {
      edges.emplace(std::min(before, site), std::max(before, site));
      before = site;
    }
  }
  const std::vector<double> weights = uniform_numbers(edges.size(), -0.2, 0.2);
  std::vector<Coupling> couplings;
  for (const auto& [i, j] : edges) couplings.push_back({i, j, weights[couplings.size()]});
  return make_ising(n, couplings, uniform_numbers(static_cast<std::size_t>(n), -0.2, 0.2));
}

std::unique_ptr<Target> dense_spins(int n, double strength) {
  const auto pairs = static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1) / 2;
  const double largest = strength * std::sqrt(3.0 / n);  // standard deviation 1 / sqrt(n)
  const std::vector<double> weights = uniform_numbers(pairs, -largest, largest);
  std::vector<Coupling> couplings;
  couplings.reserve(pairs);
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) couplings.push_back({i, j, weights[couplings.size()]});
  }
  return make_ising(n, couplings, {});
}

std::unique_ptr<Target> ordered_ring(int n, int levels) {
  std::vector<Coupling> couplings;
  for (int i = 0; i < n; ++i) {
    couplings.push_back({i, (i + 1) % n, 0.1});
    couplings.push_back({i, i, -0.3});
  }
  std::vector<double> field(static_cast<std::size_t>(n), 0.2 * (levels - 1));
  return std::make_unique<Quadratic>("quadratic", Domain::ordered(n, levels), couplings,
                                     std::move(field));
}

std::unique_ptr<Target> potts_grid(int side, int levels) {
  const int n = side * side;
  const auto entries = static_cast<std::size_t>(levels);
  std::vector<double> equal(entries * entries, 0.0);
  for (std::size_t k = 0; k < entries; ++k) equal[k * entries + k] = 0.3;
  std::vector<PottsEdge> edges;
  for (int i = 0; i < n; ++i) {
    if (i % side + 1 < side) edges.push_back({i, i + 1, equal});
    if (i + side < n) edges.push_back({i, i + side, equal});
  }
  return std::make_unique<Potts>(Domain::categorical(n, levels),
                                 uniform_numbers(entries * static_cast<std::size_t>(n), -0.5, 0.5),
                                 std::move(edges));
}

std::unique_ptr<Target> words(int positions, int levels) {
  const auto entries = static_cast<std::size_t>(positions) * static_cast<std::size_t>(levels);
  return std::make_unique<Potts>(Domain::categorical(positions, levels),
                                 uniform_numbers(entries, -2, 2), std::vector<PottsEdge>{});
}

std::unique_ptr<Target> poisson(int n) {
  return std::make_unique<Poisson>(uniform_numbers(static_cast<std::size_t>(n), 1, 20));
}

std::unique_ptr<Target> rbm(int visible, int hidden, double strength) {
  const auto inputs = static_cast<std::size_t>(visible), outputs = static_cast<std::size_t>(hidden);
  const double largest = 0.1 * strength * std::sqrt(3.0);  // standard deviation 0.1
  return std::make_unique<Rbm>(uniform_numbers(inputs * outputs, -largest, largest),
                               uniform_numbers(inputs, -6, -0.5),
                               uniform_numbers(outputs, -0.3, 0.3));
}

}  // namespace saltus::bench
