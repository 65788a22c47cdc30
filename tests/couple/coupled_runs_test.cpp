// Meeting times of larger models, draws from two laws that are to be equal, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../temper/models.hpp"
#include "saltus/certify.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"

namespace saltus {
namespace {

struct Times {
  std::vector<double> sorted;
  int unmet = 0;
  double mean = 0, standard_error = 0;
  double quantile(double share) const {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))];
  }
};

Times times_of(const Target& target, const std::string& sampler, const Settings& settings,
               std::uint64_t lag, std::uint32_t pairs, std::uint64_t max_steps = 100'000) {
  const auto made = make_sampler(sampler, target, settings);
  const auto kernel = make_coupled_kernel(target, *made);
  MeetingPlan plan;
  plan.seed = 3;
  plan.lag = lag;
  plan.max_steps = max_steps;
  Times times;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const Meeting m = run_pair(target, *kernel, pair, plan);
    m.time ? times.sorted.push_back(static_cast<double>(*m.time)) : void(++times.unmet);
  }
  std::sort(times.sorted.begin(), times.sorted.end());
  const auto n = static_cast<double>(times.sorted.size());
  double squares = 0;
  for (const double t : times.sorted) times.mean += t / n, squares += t * t / n;
  times.standard_error = std::sqrt((squares - times.mean * times.mean) / n);
  return times;
}

// A maximal coupling has the laws as its marginals and gives equal levels with probability
// sum min(p, q): within 5 standard deviations of 200,000 draws.
TEST(CoupledDraws, IsMaximal) {
  const struct {
    std::vector<double> p, q;
  } laws[] = {{{.5, .2, .3}, {.1, .6, .3}},
              {{.25, .25, .25, .25}, {0, .5, 0, .5}},
              {{1, 0, 0}, {0, 0, 1}},
              {{.2, .3, .5}, {.2, .3, .5}},
              {{.4, .6}, {.9, .1}}};
  for (const auto& [p, q] : laws) {
    constexpr int kDraws = 200'000;
    std::vector<double> x(p.size()), y(p.size());
    double equal = 0, overlap = 0;
    for (std::size_t k = 0; k < p.size(); ++k) overlap += std::min(p[k], q[k]);
    for (int n = 0; n < kDraws; ++n) {
      const Stream stream(1, 0, static_cast<std::uint64_t>(n), Purpose::couple);
      const CoupledDraw pair = couple_draws(p, q, stream, 6);
      x[static_cast<std::size_t>(pair.x)] += 1.0 / kDraws;
      y[static_cast<std::size_t>(pair.y)] += 1.0 / kDraws;
      equal += pair.x == pair.y ? 1.0 / kDraws : 0;
    }
    const auto near = [&](double seen, double expected) {
      EXPECT_NEAR(seen, expected, 1e-9 + 5 * std::sqrt(expected * (1 - expected) / kDraws));
    };
    near(equal, std::min(1.0, overlap));
    for (std::size_t k = 0; k < p.size(); ++k) near(x[k], p[k]), near(y[k], q[k]);
  }
}

// Simulations of an independent program, 2000 pairs each: means with standard errors, and
// quantiles.
TEST(Coupling, MeetingTimesOfALattice) {
  const IsingLattice target(5, 5, true, 0.1, 0.2);
  const struct {
    const char* step_size;
    std::uint64_t lag;
    std::uint32_t pairs;
    double mean, error;
    double quantiles[4];  // 10, 50, 90 and 99 %
  } rows[] = {{"0.1", 200, 500, 364.6, 4.4, {165, 319, 628, 1032}},
              {"0.2", 50, 2000, 37.60, .48, {16, 33, 65, 110}},
              {"0.3", 50, 2000, 23.43, .33, {9, 20, 42, 74}},
              {"0.4", 50, 2000, 21.25, .33, {7, 17, 42, 69}},
              {"0.6", 50, 2000, 20.21, .36, {6, 15, 41, 77}},
              {"1", 50, 2000, 22.45, .48, {5, 16, 48, 99}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.step_size);
    const Times times =
        times_of(target, "dmala", {{"step_size", row.step_size}}, row.lag, row.pairs);
    EXPECT_EQ(times.unmet, 0);
    EXPECT_NEAR(times.mean, row.mean, 4 * std::hypot(row.error, times.standard_error));
    for (std::size_t q = 0; q < 4; ++q) {
      // The share of pairs below the other program's quantile, and up to it.
      const double share[] = {.1, .5, .9, .99};
      const double error = std::sqrt(share[q] * (1 - share[q]) * (1.0 / row.pairs + 1.0 / 2000));
      const double place = row.quantiles[q];
      const auto below = std::ranges::lower_bound(times.sorted, place) - times.sorted.begin();
      const auto up_to = std::ranges::upper_bound(times.sorted, place + 1) - times.sorted.begin();
      EXPECT_LT(static_cast<double>(below) / row.pairs, share[q] + 4 * error) << q;
      EXPECT_GT(static_cast<double>(up_to) / row.pairs, share[q] - 4 * error) << q;
    }
    if (row.step_size != std::string("0.4")) continue;
    const std::vector<std::uint64_t> whole(times.sorted.begin(), times.sorted.end());
    const struct {
      std::uint64_t step;
      double bound;  // rounded to two digits
    } bounds[] = {{0, 1.05}, {25, .30}, {50, .05}, {100, 0}};
    for (const auto& [step, bound] : bounds) {
      const DistanceBound b = distance_bound(whole, row.lag, step);
      EXPECT_NEAR(b.bound, bound, .005 + 4 * std::sqrt(2.0) * b.standard_error);
    }
  }
}

// Without a field: couplings that make the lattice slower. Means of the same program; times are
// about exponential, and its error is taken to be ours.
TEST(Coupling, StrongerCouplingsMeetLater) {
  const struct {
    double coupling;
    std::uint32_t pairs;
    double mean;
  } rows[] = {{.15, 500, 72}, {.2, 500, 180}, {.25, 200, 1476}};
  for (const auto& [coupling, pairs, mean] : rows) {
    const IsingLattice target(5, 5, true, coupling, 0);
    const Times times = times_of(target, "dmala", {{"step_size", "0.4"}}, 50, pairs);
    EXPECT_EQ(times.unmet, 0);
    EXPECT_NEAR(times.mean, mean, .5 + 4 * std::sqrt(2.0) * times.standard_error) << coupling;
  }
}

// 44 % of the pairs are in different modes, and stay there: within 4 standard deviations of a share
// among 300 pairs, and of the reference's.
TEST(Coupling, ModesDoNotMeet) {
  const Times times = times_of(*ferro8(), "dmala", {{"step_size", "0.5"}}, 1, 300, 5000);
  EXPECT_NEAR(times.unmet / 300.0, .44, 4 * std::sqrt(.44 * .56 / 300));
  EXPECT_LE(times.quantile(.5), 5);
}

// Gibbs: the coupled chains' means are the exact ones, with and without local moves, on two levels
// and more.
TEST(Coupling, OfGibbsIsUnbiased) {
  const Function plain(Domain::binary(3), [](std::span<const double> v, std::span<double> g) {
    for (double& e : g) e = 0;
    return v[0] * v[1] - 0.5 * v[2] + 0.7 * v[0] * v[2];
  });
  const auto rbm = rbm3(), potts = potts5();
  for (const Target* target : {static_cast<const Target*>(&plain), rbm.get(), potts.get()}) {
    for (const Settings& settings :
         {Settings{{"updates", "sweep"}}, Settings{{"scan", "systematic"}, {"updates", "sweep"}},
          Settings{{"scan", "random"}, {"updates", "2"}}}) {
      CertifyRequest request;
      request.target = {std::shared_ptr<const Target>(), target};
      request.sampler = "gibbs";
      request.settings = settings;
      request.pairs = 1000;
      const CertifyResult r = certify(request);
      ASSERT_TRUE(r.certified());
      for (const UnbiasedMean& m : r.means) {
        EXPECT_NEAR(m.mean, m.exact.value_or(m.mean), 4.5 * m.standard_error);
      }
    }
  }
}

TEST(Certify, BoundsTheExactDistance) {
  for (const auto& target : {rbm3(), potts5()}) {
    CertifyRequest request;
    request.target = target;
    request.pairs = 1000;
    request.settings = {{"step_size", "0.5"}};
    request.threads = 1;
    const CertifyResult one = certify(request);
    ASSERT_TRUE(one.certified());
    EXPECT_FALSE(one.tuned);
    for (const BoundAt& at : one.curve) {
      ASSERT_TRUE(at.exact);
      // The last term: what has a chance of 5e-5 not to show in any pair.
      EXPECT_LE(*at.exact, at.value.bound + 4 * at.value.standard_error + 10.0 / request.pairs);
    }
    for (const UnbiasedMean& m : one.means) {
      EXPECT_NEAR(m.mean, m.exact.value_or(m.mean), 4.5 * m.standard_error);
    }
    EXPECT_LT(*one.below_quarter, *one.below_hundredth);
    request.threads = 3;
    const CertifyResult three = certify(request);
    EXPECT_EQ(one.times, three.times);
    EXPECT_EQ(one.lag, three.lag);
    for (std::size_t c = 0; c < one.means.size(); ++c)
      EXPECT_EQ(one.means[c].mean, three.means[c].mean);
  }
}

TEST(Certify, TunesFirstAndGivesNoBoundForModes) {
  CertifyRequest request;
  request.target = ferro8();
  request.pairs = 40;
  request.max_steps = 500;
  const CertifyResult r = certify(request);
  EXPECT_TRUE(r.tuned);
  EXPECT_TRUE(r.complete);
  EXPECT_GT(r.unmet, 5);
  EXPECT_FALSE(r.certified());
  EXPECT_TRUE(r.curve.empty());
  EXPECT_TRUE(r.means.empty());
  EXPECT_FALSE(r.below_hundredth);
}

// What fewer than three pairs would show, none may have shown by chance.
TEST(Certify, FewPairsDoNotTellSmallBounds) {
  CertifyRequest request;
  request.target = rbm3();
  request.pairs = 299;
  request.settings = {{"step_size", "0.5"}};
  const CertifyResult r = certify(request);
  EXPECT_TRUE(r.certified());
  EXPECT_TRUE(r.below_quarter);
  EXPECT_FALSE(r.below_hundredth);
  request.pairs = 300;
  EXPECT_TRUE(certify(request).below_hundredth);
}

TEST(Certify, StopsWhenTheCallerSaysSo) {
  CertifyRequest request;
  request.target = rbm3();
  const CertifyResult r = certify(request, [](const CertifyStatus&) { return false; });
  EXPECT_FALSE(r.complete);
  EXPECT_FALSE(r.certified());
}

std::string refusal(std::shared_ptr<const Target> target, const std::string& sampler,
                    const Settings& settings = {}) {
  CertifyRequest request;
  request.target = std::move(target);
  request.sampler = sampler;
  request.settings = settings;
  try {
    certify(request);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Certify, RefusesInWords) {
  const auto says = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  for (const char* sampler : {"locally_balanced", "rwm", "dlmc"})
    says(refusal(rbm3(), sampler), "dmala, gibbs, gwg and pas");
  says(refusal(rbm3(), "dula"), "dmala can be coupled");
  says(refusal(rbm3(), "gibbs", {{"updates", "1"}}), "updates=sweep");
  says(refusal(rbm3(), "gibbs", {{"block", "2"}, {"updates", "sweep"}}), "single coordinates");
  says(refusal(std::make_shared<Poisson>(std::vector<double>{2.0}), "dmala", {{"window", "2"}}),
       "unbounded");
  const auto ordered = std::make_shared<Function>(
      Domain::ordered(2, 5), [](std::span<const double> v, std::span<double> g) {
        for (double& e : g) e = -0.1;
        return -0.1 * (v[0] + v[1]);
      });
  says(refusal(ordered, "dmala", {{"cycle", "4"}, {"largest_step", "9"}, {"smallest_step", "1"}}),
       "not alike");
}

}  // namespace
}  // namespace saltus
