// The joint kernel of all slots of a ladder: what leaves their product law invariant, and what does
// not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "temper/exact_sums.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

// The kernel of a scan on the states of three slots, (s0 * n + s1) * n + s2: slot 0 drawn afresh,
// steps of dmala in the others, then the swaps of one parity.
struct ThreeSlots {
  static constexpr std::size_t n = 8, all = n * n * n;
  const Numbers betas = {0, .5, 1};
  std::shared_ptr<const Target> model = rbm3();
  Independent base = Independent::bernoulli(model->domain(), Numbers{.3, .6, .5});
  Path path = Path(*model, base, betas);
  std::vector<RowBuffer<double>> steps;

  ThreeSlots() {
    Tempered tempered(*model, base);
    const auto sampler = make_sampler("dmala", tempered, {{"step_size", "0.2"}});
    for (const double beta : {.5, 1.}) {
      tempered.set_beta(beta);
      Numbers acceptance(n);
      sampler->enumerable()->transition_matrix(StateTable(tempered), {},
                                               steps.emplace_back(8, 8).view(), acceptance);
    }
  }

  double probability(std::size_t s) const {
    return path.laws[0][s / 64] * path.laws[1][s / 8 % 8] * path.laws[2][s % 8];
  }

  double swap(std::size_t k, std::size_t low, std::size_t high) const {
    return swap_probability(betas[k], betas[k + 1], path.v[low], path.v[high]);
  }

  // matrix[from * all + to]
  Numbers scan(std::size_t parity) const {
    Numbers matrix(all * all);
    for (std::size_t from = 0; from < all; ++from) {
      for (std::size_t to = 0; to < all; ++to) {
        const std::size_t a = to / 64, b = to / 8 % 8, c = to % 8;
        const double p = path.laws[0][a] * steps[0].view()[static_cast<int>(from / 8 % 8)][b] *
                         steps[1].view()[static_cast<int>(from % 8)][c];
        const double swapped = parity == 0 ? swap(0, a, b) : swap(1, b, c);
        const std::size_t other = parity == 0 ? (b * 8 + a) * 8 + c : (a * 8 + c) * 8 + b;
        matrix[from * all + to] += p * (1 - swapped);
        matrix[from * all + other] += p * swapped;
      }
    }
    return matrix;
  }
};

TEST(JointKernel, ScansLeaveTheJointLawInvariantAndAreNotReversible) {
  const ThreeSlots kernel;
  constexpr std::size_t all = ThreeSlots::all;
  Numbers law(all);
  for (std::size_t s = 0; s < all; ++s) law[s] = kernel.probability(s);
  const Numbers even = kernel.scan(0), odd = kernel.scan(1), both = product(even, odd, all);
  for (const Numbers& matrix : {even, odd, both}) expect_near(after(law, matrix), law, 1e-16);
  EXPECT_NEAR(second_eigenvalue(even, law, 2000), .8734000649, 1e-9);
  EXPECT_NEAR(second_eigenvalue(odd, law, 2000), .8674130994, 1e-9);
  EXPECT_NEAR(second_eigenvalue(both, law, 300), .4460183531, 1e-8);
  double defect = 0;
  for (std::size_t i = 0; i < all; ++i) {
    for (std::size_t j = 0; j < all; ++j) {
      defect = std::max(defect, std::abs(law[i] * both[i * all + j] - law[j] * both[j * all + i]));
    }
  }
  EXPECT_NEAR(defect, 1.4877e-4, 1e-8);
  const Numbers r = exact_rejection(*kernel.model, kernel.base, kernel.betas);
  expect_near({1 - r[0], 1 - r[1]}, {.8614861981, .8592966008});
}

// A swap by log p alone, without the base, is another law's.
TEST(JointKernel, TheBaseBelongsToTheSwap) {
  ThreeSlots kernel;
  const StateTable table(*kernel.model);
  for (std::size_t s = 0; s < ThreeSlots::n; ++s) kernel.path.v[s] = table.logp(s);
  const Numbers even = kernel.scan(0), odd = kernel.scan(1);
  Numbers law(ThreeSlots::all, 1.0 / ThreeSlots::all), last(ThreeSlots::n);
  for (int t = 0; t < 60; ++t) law = after(after(law, even), odd);
  for (std::size_t s = 0; s < law.size(); ++s) last[s % ThreeSlots::n] += law[s];
  double l1 = 0;
  for (std::size_t s = 0; s < last.size(); ++s) l1 += std::abs(last[s] - kernel.path.laws[2][s]);
  EXPECT_NEAR(l1, .3505278990, 1e-9);
}

// A model with a base and a ladder, slot after slot the digits of a joint state.
struct Ladder {
  std::shared_ptr<const Target> model;
  Independent base;
  Numbers betas;
  Path path = Path(*model, base, betas);
  std::size_t n = path.v.size();

  std::size_t place(std::size_t k) const {  // of slot k's digit
    std::size_t place = 1;
    for (std::size_t slot = k + 1; slot < betas.size(); ++slot) place *= n;
    return place;
  }
  Numbers product_law() const {
    Numbers law = {1};
    for (const Numbers& of_slot : path.laws) {
      Numbers next;
      for (const double p : law) {
        for (const double q : of_slot) next.push_back(p * q);
      }
      law.swap(next);
    }
    return law;
  }
  // One step in slot k.
  Numbers explored(const Numbers& law, std::size_t k, Rows<const double> matrix) const {
    Numbers next(law.size());
    const std::size_t digit = place(k);
    for (std::size_t s = 0; s < law.size(); ++s) {
      const std::size_t state = s / digit % n, others = s - state * digit;
      for (std::size_t to = 0; to < n; ++to)
        next[others + to * digit] += law[s] * matrix[static_cast<int>(state)][to];
    }
    return next;
  }
  Numbers swapped(const Numbers& law, std::size_t k) const {
    Numbers next(law.size());
    const std::size_t low = place(k), high = place(k + 1);
    for (std::size_t s = 0; s < law.size(); ++s) {
      const std::size_t a = s / low % n, b = s / high % n;
      const double p = swap_probability(betas[k], betas[k + 1], path.v[a], path.v[b]);
      next[s] += law[s] * (1 - p);
      next[s - a * low - b * high + b * low + a * high] += law[s] * p;
    }
    return next;
  }
};

// Every exact sampler on two levels and three: a step in each slot above the base, then all swaps.
TEST(JointKernel, IsInvariantWhateverExplores) {
  const auto rbm = rbm3(), potts = potts5();
  const Ladder ladders[] = {
      {rbm, Independent::bernoulli(rbm->domain(), Numbers{.3, .6, .5}), {0, .5, 1}},
      {potts, uniform(*potts), {.4, 1}}};
  for (const Ladder& ladder : ladders) {
    const Numbers law = ladder.product_law();
    Tempered path(*ladder.model, ladder.base);
    int samplers = 0;
    for (const SamplerEntry& entry : sampler_entries()) {
      const auto sampler = entry.make(path, {});
      if (!sampler->exact() || !sampler->enumerable() || !sampler->missing(path).empty()) continue;
      SCOPED_TRACE(ladder.model->name() + " " + entry.name);
      ++samplers;
      Numbers now = law;
      for (std::size_t k = 0; k < ladder.betas.size(); ++k) {
        if (ladder.betas[k] == 0) continue;
        path.set_beta(ladder.betas[k]);
        const int n = static_cast<int>(ladder.n);
        const RowBuffer<double> matrix(n, n);
        Numbers acceptance(ladder.n);
        sampler->enumerable()->transition_matrix(StateTable(path), {}, matrix.view(), acceptance);
        now = ladder.explored(now, k, matrix.view());
      }
      for (std::size_t k = 0; k + 1 < ladder.betas.size(); ++k) now = ladder.swapped(now, k);
      expect_near(now, law, 1e-14);
    }
    EXPECT_GE(samplers, 8);
  }
}

// Two chains at temperatures 1 and 2, on joint states x * n + y: steps of dmala, then a swap that
// looks at the states after the step or, as in eq. 8 of Zheng et al. (AAAI 2026), at the change of
// log p's difference by the step. The second is no valid swap.
struct TwoTemperatures {
  enum class Swap { ordinary, by_change };
  StateTable table;
  std::size_t n = table.size();
  RowBuffer<double> cold{static_cast<int>(n), static_cast<int>(n)};
  RowBuffer<double> hot{static_cast<int>(n), static_cast<int>(n)};

  TwoTemperatures(const Target& model, const char* cold_step, const char* hot_step) : table(model) {
    Tempered path(model, uniform(model));
    const auto fill = [&](double beta, const char* step_size, Rows<double> matrix) {
      path.set_beta(beta);
      Numbers acceptance(n);
      make_sampler("dmala", path, {{"step_size", step_size}})
          ->enumerable()
          ->transition_matrix(StateTable(path), {}, matrix, acceptance);
    };
    fill(1, cold_step, cold.view());
    fill(.5, hot_step, hot.view());
  }

  double difference(std::size_t joint) const {
    return table.logp(joint / n) - table.logp(joint % n);
  }

  // The law of the cold chain in the long run, after 2^14 steps.
  Numbers cold_law(Swap swap) const {
    const std::size_t all = n * n;
    Numbers matrix(all * all), law(n);
    for (std::size_t from = 0; from < all; ++from) {
      for (std::size_t to = 0; to < all; ++to) {
        const double p = cold.view()[static_cast<int>(from / n)][to / n] *
                         hot.view()[static_cast<int>(from % n)][to % n];
        const double before = swap == Swap::by_change ? difference(from) : 0;
        const double swapped = std::min(1.0, std::exp((.5 - 1) * (difference(to) - before)));
        matrix[from * all + to] += p * (1 - swapped);
        matrix[from * all + to % n * n + to / n] += p * swapped;
      }
    }
    for (int k = 0; k < 14; ++k) matrix = product(matrix, matrix, all);
    for (std::size_t to = 0; to < all; ++to) law[to / n] += matrix[to];
    return law;
  }
  double l1(Swap swap) const {
    const Numbers law = cold_law(swap);
    double sum = 0;
    for (std::size_t s = 0; s < n; ++s) sum += std::abs(law[s] - table.probability()[s]);
    return sum;
  }
};

TEST(JointKernel, ASwapThatLooksBackIsAnotherLaws) {
  using Swap = TwoTemperatures::Swap;
  const auto rbm = rbm3();
  const IsingLattice ising(2, 2, true, .1, .2);
  struct Row {
    const Target& model;
    const char *cold, *hot;
    double l1, mean;  // of the first coordinate
  };
  for (const Row& row : {Row{*rbm, ".2", ".4", .0987879, NAN},
                         {ising, ".2", ".4", .1798443, .1712118},
                         {ising, ".05", ".1", .2674479, .1226236}}) {
    const TwoTemperatures two(row.model, row.cold, row.hot);
    EXPECT_LT(two.l1(Swap::ordinary), 1e-12);
    EXPECT_NEAR(two.l1(Swap::by_change), row.l1, 1e-7);
    if (std::isfinite(row.mean)) {
      EXPECT_NEAR(two.table.means(two.cold_law(Swap::by_change))[0], row.mean, 1e-7);
    }
  }
}

}  // namespace
}  // namespace saltus
