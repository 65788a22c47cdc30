// Parallel tempering against sums over all states.
#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/tempered.hpp"
#include "saltus/temper/ladder.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

using Numbers = std::vector<double>;

const Numbers kEven = {0, .25, .5, .75, 1}, kUneven = {0, .1, .2, .3, .5, 1};

Independent uniform(const Target& target) {
  return Independent::uniform(target.domain());
}

// The law at every beta of a ladder, and V of every state.
struct Path {
  std::vector<Numbers> laws;
  Numbers v;

  Path(const Target& model, const Independent& base, const Numbers& betas) {
    Tempered path(model, base);
    for (const double beta : betas) {
      path.set_beta(beta);
      const StateTable table(path);
      laws.emplace_back(table.probability().begin(), table.probability().end());
    }
    const StateTable table(model);
    for (std::size_t s = 0; s < table.size(); ++s) {
      v.push_back(table.logp(s) - base.log_probability(table.state(s)));
    }
  }
};

Numbers exact_rejection(const Target& model, const Independent& base, const Numbers& betas) {
  const Path path(model, base, betas);
  Numbers r;
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    double accepted = 0;
    for (std::size_t s = 0; s < path.v.size(); ++s) {
      for (std::size_t t = 0; t < path.v.size(); ++t) {
        accepted += path.laws[k][s] * path.laws[k + 1][t] *
                    swap_probability(betas[k], betas[k + 1], path.v[s], path.v[t]);
      }
    }
    r.push_back(1 - accepted);
  }
  return r;
}

void expect_near(const Numbers& found, const Numbers& expected, double tolerance = 1e-9) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], tolerance) << k;
}

TEST(ExactTempering, RejectionRates) {
  const auto ferro = ferro8(), glass = glass10(), potts = potts5(), rbm = rbm3();
  const Independent biased = Independent::bernoulli(ferro->domain(), Numbers(8, .6)),
                    base = Independent::bernoulli(rbm->domain(), Numbers{.3, .6, .5});
  expect_near(exact_rejection(*ferro, uniform(*ferro), kEven),
              {.4707961309, .6683723643, .2517859055, .0783886780});
  expect_near(exact_rejection(*ferro, biased, kEven),
              {.5172997327, .6036629357, .2405028338, .1415512127});
  expect_near(exact_rejection(*glass, uniform(*glass), kUneven),
              {.3511049159, .3254714843, .2802207043, .4259063284, .5589705030});
  expect_near(exact_rejection(*potts, uniform(*potts), kEven),
              {.2957886795, .3046153643, .3214827913, .2856063170});
  expect_near(exact_rejection(*rbm, base, kUneven),
              {.0273510964, .0276249396, .0278543207, .0561857538, .1407033992});
}

TEST(ExactTempering, RoundTripsAndLadders) {
  const auto ferro = ferro8();
  const auto rejection = [&](const Numbers& betas) {
    return exact_rejection(*ferro, uniform(*ferro), betas);
  };
  EXPECT_NEAR(round_trip_rate(rejection(kEven)), .1155632993, 1e-9);
  EXPECT_NEAR(round_trip_rate(rejection(kUneven)), .1424644541, 1e-9);
  const Numbers first = equal_rejection_ladder(kEven, rejection(kEven), 4);
  expect_near(first, {0, .1950609540, .3487007477, .4861001187, 1});
  const Numbers second = equal_rejection_ladder(first, rejection(first), 4);
  expect_near(second, {0, .2087318908, .3359079139, .4738815241, 1});
  EXPECT_NEAR(round_trip_rate(rejection(second)), .1458666148, 1e-9);
}

// The kernel of a scan on the states of three slots, (s0 * n + s1) * n + s2: slot 0 drawn afresh,
// steps of dmala in the others, then the swaps of one parity.
struct JointKernel {
  static constexpr std::size_t n = 8, all = n * n * n;
  const Numbers betas = {0, .5, 1};
  std::shared_ptr<const Target> model = rbm3();
  Independent base = Independent::bernoulli(model->domain(), Numbers{.3, .6, .5});
  Path path = Path(*model, base, betas);
  std::vector<RowBuffer<double>> steps;

  JointKernel() {
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

TEST(ExactTempering, ScansLeaveTheJointLawInvariantAndAreNotReversible) {
  const JointKernel kernel;
  constexpr std::size_t all = JointKernel::all;
  Numbers law(all);
  for (std::size_t s = 0; s < all; ++s) law[s] = kernel.probability(s);
  const Numbers even = kernel.scan(0), odd = kernel.scan(1);
  for (const Numbers& matrix : {even, odd}) {
    for (std::size_t to = 0; to < all; ++to) {
      double sum = 0;
      for (std::size_t from = 0; from < all; ++from) sum += law[from] * matrix[from * all + to];
      EXPECT_NEAR(sum, law[to], 1e-14);
    }
  }
  double defect = 0;
  Numbers both(all * all);
  for (std::size_t i = 0; i < all; ++i) {
    for (std::size_t m = 0; m < all; ++m) {
      for (std::size_t j = 0; j < all; ++j) {
        both[i * all + j] += even[i * all + m] * odd[m * all + j];
      }
    }
  }
  for (std::size_t i = 0; i < all; ++i) {
    for (std::size_t j = 0; j < all; ++j) {
      defect = std::max(defect, std::abs(law[i] * both[i * all + j] - law[j] * both[j * all + i]));
    }
  }
  EXPECT_NEAR(defect, 1.4877e-4, 1e-8);
}

// A swap by log p alone, without the base, is another law's.
TEST(ExactTempering, TheBaseBelongsToTheSwap) {
  JointKernel kernel;
  const StateTable table(*kernel.model);
  for (std::size_t s = 0; s < JointKernel::n; ++s) kernel.path.v[s] = table.logp(s);
  constexpr std::size_t all = JointKernel::all;
  const Numbers even = kernel.scan(0), odd = kernel.scan(1);
  Numbers law(all, 1.0 / all), next(all);
  for (int t = 0; t < 400; ++t) {
    const Numbers& matrix = t % 2 == 0 ? even : odd;
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = 0; i < all; ++i) {
      for (std::size_t j = 0; j < all; ++j) next[j] += law[i] * matrix[i * all + j];
    }
    law.swap(next);
  }
  Numbers last(8);
  for (std::size_t s = 0; s < all; ++s) last[s % 8] += law[s];
  double l1 = 0;
  for (std::size_t s = 0; s < 8; ++s) l1 += std::abs(last[s] - kernel.path.laws[2][s]);
  EXPECT_GT(l1, .3);
}

}  // namespace
}  // namespace saltus
