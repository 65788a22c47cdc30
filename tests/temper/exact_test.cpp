// Parallel tempering against sums over all states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/sampler/registry.hpp"
#include "saltus/temper/parallel_tempering.hpp"
#include "temper/exact_sums.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

const Numbers kEven = {0, .25, .5, .75, 1}, kUneven = {0, .1, .2, .3, .5, 1};

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

// The sum of p q / (p + q).
double harmonic_overlap(const Numbers& p, const Numbers& q) {
  double sum = 0;
  for (std::size_t s = 0; s < p.size(); ++s) sum += p[s] * q[s] / (p[s] + q[s]);
  return sum;
}

// n times the variance of the estimates of log Z from n independent draws of each slot; the optimum
// is that of Bennett (1976).
TEST(ExactTempering, VariancesOfLogZ) {
  struct Row {
    std::shared_ptr<const Target> model;
    Numbers betas;
    double forward, backward, bridge, optimum;
  };
  for (const Row& row : {Row{ferro8(), kEven, 6.936794, 7.617990, 2.152701, 1.918936},
                         {ferro8(), kUneven, 2.341602, 75.392767, 1.519587, 1.297596},
                         {glass10(), kEven, 6.102199, 15.258357, 2.557924, 2.207643},
                         {glass10(), kUneven, 2.812228, 37.610747, 1.722670, 1.539929},
                         {potts5(), kEven, 1.542846, 1.569181, .702534, .681151}}) {
    const Independent base = uniform(*row.model);
    const auto z = [&](double beta) { return log_z(*row.model, base, beta); };
    const Path path(*row.model, base, row.betas);
    double forward = 0, backward = 0, bridge = 0, optimum = 0;
    for (std::size_t k = 0; k + 1 < row.betas.size(); ++k) {
      const double a = row.betas[k], b = row.betas[k + 1];
      optimum += 1 / harmonic_overlap(path.laws[k], path.laws[k + 1]) - 2;
      forward += std::exp(z(2 * b - a) + z(a) - 2 * z(b)) - 1;
      backward += std::exp(z(2 * a - b) + z(b) - 2 * z(a)) - 1;
      bridge += 2 * (std::exp(z(a) + z(b) - 2 * z((a + b) / 2)) - 1);
    }
    expect_near({forward, backward, bridge, optimum},
                {row.forward, row.backward, row.bridge, row.optimum}, 1e-6);
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

// The ladder after eight rounds of warm-up, 2 to 256 scans of four ensembles, with independent
// draws in every slot.
Numbers adapted_ladder(const Target& model, const Independent& base, std::uint64_t run) {
  Numbers betas = {0, 1 / 6., 2 / 6., 3 / 6., 4 / 6., 5 / 6., 1};
  const std::size_t slots = betas.size();
  std::uint64_t scan = 0;
  for (std::uint64_t length = 2; length <= 256; length *= 2) {
    Path path(model, base, betas);
    for (Numbers& law : path.laws) std::partial_sum(law.begin(), law.end(), law.begin());
    Numbers accepted(slots - 1), tried(slots - 1);
    for (std::uint64_t end = scan + length; scan < end; ++scan) {
      for (std::uint32_t e = 0; e < 4; ++e) {
        const Stream stream(run, e, scan, Purpose::check);
        const auto v = [&](std::size_t k) {
          const double u = stream.uniform(static_cast<std::uint32_t>(k)) * path.laws[k].back();
          return path.v[static_cast<std::size_t>(std::ranges::lower_bound(path.laws[k], u) -
                                                 path.laws[k].begin())];
        };
        for (std::size_t k = scan % 2; k + 1 < slots; k += 2) {
          accepted[k] += swap_probability(betas[k], betas[k + 1], v(k), v(k + 1));
          ++tried[k];
        }
      }
    }
    Numbers r(slots - 1);
    for (std::size_t k = 0; k + 1 < slots; ++k) r[k] = 1 - accepted[k] / tried[k];
    betas = equal_rejection_ladder(betas, r, 6);
  }
  return betas;
}

// Against 200 runs of another program: their mean spread of rejections is .031, the worst .069, and
// the rate of round trips at least .1256 where .1259 is the best.
TEST(ExactTempering, AdaptedLaddersAreNearlyTheBest) {
  const auto glass = glass10();
  const Independent base = uniform(*glass);
  constexpr int kRuns = 25;
  double sum = 0, squares = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    const Numbers r = exact_rejection(*glass, base, adapted_ladder(*glass, base, run));
    const auto [least, most] = std::ranges::minmax(r);
    sum += most - least, squares += (most - least) * (most - least);
    EXPECT_LT(most - least, .07);
    EXPECT_GT(round_trip_rate(r), .1255);
    EXPECT_LT(round_trip_rate(r), .1260);
  }
  const double mean = sum / kRuns, variance = squares / kRuns - mean * mean;
  EXPECT_NEAR(mean, .031, .0005 + 4 * std::sqrt(variance / kRuns + variance / 200));
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

}  // namespace
}  // namespace saltus
