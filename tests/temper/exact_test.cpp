// Parallel tempering against sums over all states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/tempered.hpp"
#include "saltus/temper/ladder.hpp"
#include "saltus/temper/parallel_tempering.hpp"
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

// log of the sum of p_0 exp(beta V).
double log_z(const Target& model, const Independent& base, double beta) {
  const StateTable table(model);
  double sum = 0;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const double log_base = base.log_probability(table.state(s));
    sum += std::exp(log_base + beta * (table.logp(s) - log_base));
  }
  return std::log(sum);
}

double mean_v(const Path& path, std::size_t k) {
  double mean = 0;
  for (std::size_t s = 0; s < path.v.size(); ++s) mean += path.laws[k][s] * path.v[s];
  return mean;
}

// Half of the mean of |V(X) - V(Y)|, at every beta.
Numbers local_barrier(const Target& model, const Independent& base, const Numbers& betas) {
  const Path path(model, base, betas);
  std::vector<std::size_t> by_v(path.v.size());
  std::iota(by_v.begin(), by_v.end(), std::size_t{0});
  std::ranges::sort(by_v, {}, [&](std::size_t s) { return path.v[s]; });
  Numbers barrier;
  for (const Numbers& law : path.laws) {
    double below = 0, sum_below = 0, total = 0;
    for (const std::size_t s : by_v) {
      total += law[s] * (path.v[s] * below - sum_below);
      below += law[s], sum_below += law[s] * path.v[s];
    }
    barrier.push_back(total);
  }
  return barrier;
}

// By Simpson's rule.
double integrated_barrier(const Target& model, const Independent& base, double from = 0,
                          double to = 1) {
  constexpr int intervals = 512;
  Numbers betas;
  for (int i = 0; i <= intervals; ++i) betas.push_back(from + (to - from) * i / intervals);
  const Numbers values = local_barrier(model, base, betas);
  double sum = values.front() + values.back();
  for (std::size_t i = 1; i < intervals; ++i) sum += (i % 2 ? 4 : 2) * values[i];
  return sum * (to - from) / intervals / 3;
}

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

// A model with a base, and what sums over its states give.
struct Case {
  const char* name;
  std::shared_ptr<const Target> model;
  Independent base;
  double log_z, barrier;
  Numbers local, even, uneven;  // local barriers at kEven; rejection rates of both ladders
};

std::vector<Case> cases() {
  const auto ferro = ferro8(), glass = glass10(), potts = potts5(), rbm = rbm3();
  return {{"ferro8",
           ferro,
           uniform(*ferro),
           14.7783104356,
           1.5712155350,
           {1.2112426758, 3.0280807011, 1.9371221073, .4839210586, .2200448493},
           {.4707961309, .6683723643, .2517859055, .0783886780},
           {.1449972336, .2130030222, .2950982693, .5414423545, .3197368050}},
          {"biased ferro8",
           ferro,
           Independent::bernoulli(ferro->domain(), Numbers(8, .6)),
           14.7783104356,
           1.5962667259,
           {1.4039095308, 3.0517721596, 1.6345548640, .6323883977, .5647275837},
           {.5172997327, .6036629357, .2405028338, .1415512127},
           {.1674313693, .2368455690, .2967955018, .4736450833, .3622208751}},
          {"glass10",
           glass,
           uniform(*glass),
           18.6674094053,
           2.0467796590,
           {3.6251624680, 2.8596533599, 1.8920227664, 1.1872158322, .7379842380},
           {.7173663549, .5368283444, .3666039694, .2317202811},
           {.3511049159, .3254714843, .2802207043, .4259063284, .5589705030}},
          {"potts5",
           potts,
           uniform(*potts),
           11.7920345838,
           1.2328920472,
           {1.1792511304, 1.2271425290, 1.2887037535, 1.3012404791, .9518196888},
           {.2957886795, .3046153643, .3214827913, .2856063170},
           {.1190896740, .1211108848, .1222498622, .2470368724, .5784244295}},
          {"rbm3",
           rbm,
           Independent::bernoulli(rbm->domain(), Numbers{.3, .6, .5}),
           3.9800464566,
           .2803507386,
           {.2720377334, .2786067305, .2823273223, .2830731133, .2808029618},
           {.0688212146, .0701063597, .0706645376, .0704748428},
           {.0273510964, .0276249396, .0278543207, .0561857538, .1407033992}}};
}

TEST(ExactTempering, PathsAndRejectionRates) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    EXPECT_NEAR(log_z(*c.model, c.base, 1), c.log_z, 1e-9);
    EXPECT_NEAR(log_z(*c.model, c.base, 0), 0, 1e-9);
    EXPECT_NEAR(integrated_barrier(*c.model, c.base), c.barrier, 1e-8);
    expect_near(local_barrier(*c.model, c.base, kEven), c.local);
    expect_near(exact_rejection(*c.model, c.base, kEven), c.even);
    expect_near(exact_rejection(*c.model, c.base, kUneven), c.uneven);
  }
  const auto ferro = ferro8(), glass = glass10();
  const auto between = [](const Target& model) {  // 0.2 and 0.7
    return exact_rejection(model, uniform(model), {0, .2, .7, 1})[1];
  };
  EXPECT_NEAR(between(*ferro), .8833844476, 1e-9);
  EXPECT_NEAR(integrated_barrier(*ferro, uniform(*ferro), .2, .7), 1.1033641320, 1e-8);
  EXPECT_NEAR(between(*glass), .8147094768, 1e-9);
  EXPECT_NEAR(integrated_barrier(*glass, uniform(*glass), .2, .7), 1.0522707470, 1e-8);
}

TEST(ExactTempering, MeansOfTheModels) {
  const auto means = [](const Target& model) {
    const StateTable table(model);
    return table.means(table.probability());
  };
  expect_near(means(*ferro8()), Numbers(8, .3787658692));
  expect_near(means(*glass10()),
              {-.0897244735, -.1057178922, .1007943640, .0876633435, .0990859806, .0843894625,
               -.0988093096, .0094640831, -.0818177164, .1035722145});
  expect_near(means(*potts5()), {.9856163432, .9524011821, .9664126346, .9758111420, .9817451278});
}

// n times the variance of the estimates of log Z from n independent draws of each slot.
TEST(ExactTempering, VariancesOfLogZ) {
  struct Row {
    std::shared_ptr<const Target> model;
    Numbers betas;
    double forward, backward, bridge;
  };
  for (const Row& row : {Row{ferro8(), kEven, 6.936794, 7.617990, 2.152701},
                         {ferro8(), kUneven, 2.341602, 75.392767, 1.519587},
                         {glass10(), kEven, 6.102199, 15.258357, 2.557924},
                         {glass10(), kUneven, 2.812228, 37.610747, 1.722670},
                         {potts5(), kEven, 1.542846, 1.569181, .702534}}) {
    const Independent base = uniform(*row.model);
    const auto z = [&](double beta) { return log_z(*row.model, base, beta); };
    double forward = 0, backward = 0, bridge = 0;
    for (std::size_t k = 0; k + 1 < row.betas.size(); ++k) {
      const double a = row.betas[k], b = row.betas[k + 1];
      forward += std::exp(z(2 * b - a) + z(a) - 2 * z(b)) - 1;
      backward += std::exp(z(2 * a - b) + z(b) - 2 * z(a)) - 1;
      bridge += 2 * (std::exp(z(a) + z(b) - 2 * z((a + b) / 2)) - 1);
    }
    expect_near({forward, backward, bridge}, {row.forward, row.backward, row.bridge}, 1e-6);
  }
  const auto ferro = ferro8();
  const Path path(*ferro, uniform(*ferro), kEven);
  const Numbers z = {0, 1.7840448264, 5.2403739552, 9.8956195480, 14.7783104356},
                v = {5.5451774445, 9.7356916790, 17.2884844695, 19.3320727892, 19.6454320425};
  for (std::size_t k = 0; k < kEven.size(); ++k) {
    const auto at = [&](double beta) { return log_z(*ferro, uniform(*ferro), beta); };
    EXPECT_NEAR(at(kEven[k]), z[k], 1e-9);
    EXPECT_NEAR(mean_v(path, k), v[k], 1e-9);
    EXPECT_NEAR((at(kEven[k] + 1e-4) - at(kEven[k] - 1e-4)) / 2e-4, v[k], 1e-5);
  }
}

TEST(ExactTempering, RoundTripsAndLadders) {
  const std::vector<Case> all = cases();
  const Case &ferro = all[0], &glass = all[2], &potts = all[3], &rbm = all[4];
  EXPECT_NEAR(round_trip_rate(ferro.even), .1155632993, 1e-9);
  EXPECT_NEAR(round_trip_rate(glass.even), .0896446726, 1e-9);
  EXPECT_NEAR(round_trip_rate(potts.even), .1830380985, 1e-9);
  EXPECT_NEAR(round_trip_rate(rbm.even), .3842738977, 1e-9);
  EXPECT_NEAR(round_trip_rate(ferro.uneven), .1424644541, 1e-9);
  EXPECT_NEAR(round_trip_rate(glass.uneven), .1130656134, 1e-9);
  const auto expect_ladders = [](const Case& c, const std::vector<Numbers>& ladders,
                                 const Numbers& rates) {
    Numbers betas = kEven, r = c.even;
    for (std::size_t i = 0; i < ladders.size(); ++i) {
      betas = equal_rejection_ladder(betas, r, 4);
      expect_near({betas.begin() + 1, betas.end() - 1}, ladders[i]);
      r = exact_rejection(*c.model, c.base, betas);
      EXPECT_NEAR(round_trip_rate(r), rates[i], 1e-9);
    }
  };
  expect_ladders(ferro,
                 {{.1950609540, .3487007477, .4861001187},
                  {.2087318908, .3359079139, .4738815241},
                  {.2115272737, .3359755887, .4702606055}},
                 {.1442328910, .1458666148, .1459908954});
  expect_ladders(glass,
                 {{.1613993095, .3472811524, .5921938415}, {.1456502319, .3224034884, .5663813972}},
                 {.1060603870, .1067546058});
}

// With the noise of real rounds; 1/(2 + 2 sum r/(1 - r)) is at best .1259.
TEST(ExactTempering, WarmUpFindsALadderOfEqualRejection) {
  const auto glass = glass10();
  const auto base = std::make_shared<Independent>(uniform(*glass));
  RunPlan plan;
  plan.warmup = 2000;
  plan.draws = 1;
  ParallelTempering run(*glass, base, make_sampler("gibbs", *glass, {{"updates", "sweep"}}), plan,
                        {7, {}, 1});
  ASSERT_TRUE(run.go());
  const Numbers r = exact_rejection(*glass, *base, run.report().betas);
  const auto [least, most] = std::ranges::minmax(r);
  EXPECT_LT(most - least, .07);
  EXPECT_GT(round_trip_rate(r), .125);
}

// Mean acceptance and correlation of V over one step of dmala.
TEST(ExactTempering, ExplorersOfOneStep) {
  struct Row {
    std::shared_ptr<const Target> model;
    Numbers acceptance, correlation;  // at beta = .25, .5, .75, 1
  };
  for (const Row& row : {Row{ferro8(),
                             {.83268681, .74782618, .84117240, .92265692},
                             {.75898295, .74178282, .51945996, .46659196}},
                         {glass10(),
                          {.69838096, .67706109, .74655112, .81218347},
                          {.63063901, .73927897, .76598707, .75509242}}}) {
    Tempered path(*row.model, uniform(*row.model));
    const Path laws(*row.model, uniform(*row.model), kEven);
    const auto sampler = make_sampler("dmala", path, {{"step_size", "0.5"}});
    const std::size_t n = laws.v.size();
    for (std::size_t k = 1; k < kEven.size(); ++k) {
      path.set_beta(kEven[k]);
      Numbers accepted(n);
      const RowBuffer<double> matrix(static_cast<int>(n), static_cast<int>(n));
      sampler->enumerable()->transition_matrix(StateTable(path), {}, matrix.view(), accepted);
      const double mean = mean_v(laws, k);
      double acceptance = 0, variance = 0, covariance = 0;
      for (std::size_t s = 0; s < n; ++s) {
        double next = 0;
        for (std::size_t t = 0; t < n; ++t) {
          next += matrix.view()[static_cast<int>(s)][t] * (laws.v[t] - mean);
        }
        const double p = laws.laws[k][s], v = laws.v[s] - mean;
        acceptance += p * accepted[s];
        variance += p * v * v;
        covariance += p * v * next;
      }
      EXPECT_NEAR(acceptance, row.acceptance[k - 1], 1e-8);
      EXPECT_NEAR(covariance / variance, row.correlation[k - 1], 1e-8);
    }
  }
}

// |lambda_2| of a kernel of n states with this law, by iteration on functions of mean 0.
double second_eigenvalue(const Numbers& matrix, const Numbers& law, int iterations) {
  const std::size_t n = law.size();
  Numbers f(n), next(n);
  for (std::size_t s = 0; s < n; ++s) f[s] = std::sin(1.0 + static_cast<double>(s * s % 97));
  double ratio = 0;
  for (int i = 0; i < iterations; ++i) {
    double mean = 0, before = 0, after = 0;
    for (std::size_t s = 0; s < n; ++s) mean += law[s] * f[s];
    for (double& v : f) v -= mean;
    for (std::size_t s = 0; s < n; ++s) {
      next[s] = std::inner_product(f.begin(), f.end(),
                                   matrix.begin() + static_cast<std::ptrdiff_t>(s * n), 0.0);
      before += law[s] * f[s] * f[s], after += law[s] * next[s] * next[s];
    }
    ratio = std::sqrt(after / before);
    for (std::size_t s = 0; s < n; ++s) f[s] = next[s] / std::sqrt(after);
  }
  return ratio;
}

TEST(ExactTempering, PlainChainsHardlyEverChangeModes) {
  const auto model = ferro8();
  const StateTable table(*model);
  const Numbers law(table.probability().begin(), table.probability().end());
  EXPECT_NEAR(law.back(), .6850178, 5e-8);
  EXPECT_NEAR(law.front(), .3077983, 5e-8);
  const std::size_t n = table.size();
  for (const auto& [step_size, expected] :
       {std::pair{"0.2", .9999982884}, {"0.5", .9999966946}, {"1e9", .9999956849}}) {
    const auto sampler = make_sampler("dmala", *model, {{"step_size", step_size}});
    Numbers acceptance(n), matrix;
    const RowBuffer<double> rows(static_cast<int>(n), static_cast<int>(n));
    sampler->enumerable()->transition_matrix(table, {}, rows.view(), acceptance);
    for (int s = 0; s < rows.view().rows; ++s) {
      matrix.insert(matrix.end(), rows.view()[s], rows.view()[s] + n);
    }
    EXPECT_NEAR(second_eigenvalue(matrix, law, 500), expected, 2e-10) << step_size;
  }
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

Numbers product(const Numbers& a, const Numbers& b, std::size_t n) {
  Numbers both(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t m = 0; m < n; ++m) {
      for (std::size_t j = 0; j < n; ++j) both[i * n + j] += a[i * n + m] * b[m * n + j];
    }
  }
  return both;
}

Numbers after(const Numbers& law, const Numbers& matrix) {
  const std::size_t n = law.size();
  Numbers next(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) next[j] += law[i] * matrix[i * n + j];
  }
  return next;
}

TEST(ExactTempering, ScansLeaveTheJointLawInvariantAndAreNotReversible) {
  const JointKernel kernel;
  constexpr std::size_t all = JointKernel::all;
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
TEST(ExactTempering, TheBaseBelongsToTheSwap) {
  JointKernel kernel;
  const StateTable table(*kernel.model);
  for (std::size_t s = 0; s < JointKernel::n; ++s) kernel.path.v[s] = table.logp(s);
  const Numbers even = kernel.scan(0), odd = kernel.scan(1);
  Numbers law(JointKernel::all, 1.0 / JointKernel::all), last(JointKernel::n);
  for (int t = 0; t < 60; ++t) law = after(after(law, even), odd);
  for (std::size_t s = 0; s < law.size(); ++s) last[s % JointKernel::n] += law[s];
  double l1 = 0;
  for (std::size_t s = 0; s < last.size(); ++s) l1 += std::abs(last[s] - kernel.path.laws[2][s]);
  EXPECT_NEAR(l1, .3505278990, 1e-9);
}

}  // namespace
}  // namespace saltus
