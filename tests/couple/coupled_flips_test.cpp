// Gibbs with gradients and the path auxiliary sampler, coupled: each chain alone follows the exact
// transition matrix of the sampler, equal chains stay equal, and means are without bias.
#include <gtest/gtest.h>

#include <cmath>

#include "../temper/models.hpp"
#include "coupled_steps.hpp"
#include "saltus/certify.hpp"
#include "saltus/sampler/gwg.hpp"
#include "saltus/target/function.hpp"

namespace saltus {
namespace {

// Coordinates with three levels and two.
std::shared_ptr<const Target> potts2() {
  return shared_target(parse_model(
      R"({"model":"potts","levels":[3,2,3],"unary":[[0.4,-0.3,0.2],[0.1,-0.5],[0.0,0.3,-0.6]],)"
      R"("pairwise":[{"between":[0,1],"table":[[0.9,-0.2],[0.1,0.8],[-0.4,0.5]]},)"
      R"({"between":[1,2],"table":[[0.7,0.0,-0.3],[-0.6,0.2,0.9]]}]})",
      "potts2"));
}

// Ordered levels, with a gradient that is not that of log p: the weights are poor, the law is
// right.
std::shared_ptr<const Target> ordered2() {
  return std::make_shared<Function>(Domain::ordered(2, 5),
                                    [](std::span<const double> v, std::span<double> g) {
                                      g[0] = 0.5 - 0.3 * v[0];
                                      g[1] = -0.4;
                                      return 0.6 * v[0] - 0.2 * v[0] * v[0] + 0.1 * v[0] * v[1];
                                    });
}

struct Case {
  const char *model, *sampler;
  std::shared_ptr<const Target> target;
  Settings settings;
};

std::vector<Case> cases() {
  return {{"rbm3", "gwg", rbm3(), {{"flips", "1"}}},
          {"rbm3", "gwg", rbm3(), {{"flips", "2"}, {"balancing", "ratio"}}},
          {"rbm3", "pas", rbm3(), {{"flips", "2"}}},
          {"rbm3", "pas", rbm3(), {{"flips", "2"}, {"fixed", "true"}}},
          {"potts2", "gwg", potts2(), {{"flips", "1"}}},
          {"potts2", "gwg", potts2(), {{"flips", "3"}}},
          {"potts2", "pas", potts2(), {{"flips", "2"}, {"balancing", "min"}}},
          {"ordered2", "gwg", ordered2(), {{"window", "2"}, {"flips", "2"}}},
          {"ordered2", "pas", ordered2(), {{"window", "1"}, {"flips", "1"}}}};
}

// One-step counts of both chains against the sampler's exact matrix, from all joint states.
TEST(CoupledFlips, EachChainFollowsTheSampler) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(std::string(c.model) + " " + c.sampler);
    const StateTable table(*c.target);
    const auto sampler = make_sampler(c.sampler, *c.target, c.settings);
    const auto kernel = make_coupled_kernel(*c.target, *sampler);
    const std::size_t n = table.size();
    const RowBuffer<double> matrix(static_cast<int>(n), static_cast<int>(n));
    std::vector<double> acceptance(n);
    sampler->enumerable()->transition_matrix(table, {}, matrix.view(), acceptance);
    std::vector<std::vector<double>> seen[2];
    for (auto& of_chain : seen) of_chain.assign(n, std::vector<double>(n));
    CoupledSteps steps(*c.target, table, *kernel);
    const std::uint32_t count = 200'000 / static_cast<std::uint32_t>(n * n);
    for (std::size_t from = 0; from < n * n; ++from) {
      for (std::uint32_t k = 0; k < count; ++k) {
        steps.start(from);
        const std::size_t to = steps.step({9, k, from});
        ++seen[0][from / n][to / n];
        ++seen[1][from % n][to % n];
      }
    }
    for (const auto& of_chain : seen) {
      ChiSquare test;
      for (std::size_t x = 0; x < n; ++x) {
        const double* row = matrix.view()[static_cast<int>(x)];
        test.add(of_chain[x], {row, row + n});
      }
      EXPECT_GT(test.degrees(), 20);
      EXPECT_TRUE(test.agrees());
    }
  }
}

// The law of one joint step of Gibbs with gradients with one flip and sqrt balancing, from formulas
// of its own: changes (site, level) agree as often as they can, and one number accepts both.
class JointLaw {
 public:
  explicit JointLaw(const StateTable& table) : table_(table), n_(table.size()) {
    for (std::size_t s = 0; s < n_; ++s) changes_.push_back(changes_of(s));
  }

  std::vector<double> row(std::size_t x, std::size_t y) const {
    std::vector<double> to(n_ * n_);
    const std::size_t all = changes_[x].size();
    double overlap = 0;
    for (std::size_t c = 0; c < all; ++c) overlap += both(x, y, c);
    for (std::size_t a = 0; a < all; ++a) {
      add(x, y, a, a, both(x, y, a), to);
      for (std::size_t b = 0; b < all && overlap < 1 - 1e-12; ++b) {
        const double p = changes_[x][a].p - both(x, y, a), q = changes_[y][b].p - both(x, y, b);
        add(x, y, a, b, p * q / (1 - overlap), to);
      }
    }
    return to;
  }

 private:
  struct Change {
    std::size_t to;
    double p;
  };

  // All (site, level) in order, those of the state itself with probability 0.
  std::vector<Change> changes_of(std::size_t s) const {
    const Domain& domain = table_.domain();
    std::vector<Symbol> y(table_.state(s), table_.state(s) + domain.dim());
    std::vector<Change> list;
    double sum = 0;
    for (int i = 0; i < domain.dim(); ++i) {
      Symbol& here = y[static_cast<std::size_t>(i)];
      const Symbol now = here;
      for (int k = 0; k < domain.levels(i); ++k) {
        const double* score = table_.score(s) + domain.score_begin(i);
        const double d = domain.kind() == Domain::Kind::categorical
                             ? score[k] - score[now]
                             : score[0] * (domain.value(k) - domain.value(now));
        here = static_cast<Symbol>(k);
        list.push_back({table_.index(y.data()), k == now ? 0 : std::exp(d / 2)});
        sum += list.back().p;
      }
      here = now;
    }
    for (Change& c : list) c.p /= sum;
    return list;
  }
  double both(std::size_t x, std::size_t y, std::size_t c) const {
    return std::min(changes_[x][c].p, changes_[y][c].p);
  }
  double back(std::size_t from, std::size_t to) const {
    for (const Change& c : changes_[from]) {
      if (c.to == to && c.p > 0) return c.p;
    }
    return 0;
  }
  double acceptance(std::size_t s, const Change& c) const {
    return std::min(1.0, std::exp(table_.logp(c.to) - table_.logp(s)) * back(c.to, s) / c.p);
  }
  void add(std::size_t x, std::size_t y, std::size_t a, std::size_t b, double p,
           std::vector<double>& to) const {
    if (!(p > 0)) return;
    const Change &c = changes_[x][a], &d = changes_[y][b];
    const double u = acceptance(x, c), v = acceptance(y, d);
    to[c.to * n_ + d.to] += p * std::min(u, v);
    to[c.to * n_ + y] += p * std::max(0.0, u - v);
    to[x * n_ + d.to] += p * std::max(0.0, v - u);
    to[x * n_ + y] += p * (1 - std::max(u, v));
  }

  const StateTable& table_;
  std::size_t n_;
  std::vector<std::vector<Change>> changes_;
};

// The exact joint law has the sampler's matrix as both its marginals, and real steps follow it.
TEST(CoupledFlips, StepsFollowTheJointLaw) {
  for (const auto& target : {rbm3(), potts2()}) {
    const StateTable table(*target);
    const JointLaw law(table);
    const Gwg sampler(target->domain(), {});
    const auto kernel = make_coupled_kernel(*target, sampler);
    const std::size_t n = table.size();
    const RowBuffer<double> matrix(static_cast<int>(n), static_cast<int>(n));
    std::vector<double> acceptance(n);
    sampler.transition_matrix(table, {}, matrix.view(), acceptance);
    CoupledSteps steps(*target, table, *kernel);
    ChiSquare test;
    for (std::size_t from = 0; from < n * n; ++from) {
      const std::vector<double> row = law.row(from / n, from % n);
      std::vector<double> seen(n * n), x(n), y(n);
      for (std::size_t to = 0; to < n * n; ++to) x[to / n] += row[to], y[to % n] += row[to];
      for (std::size_t to = 0; to < n; ++to) {
        EXPECT_NEAR(x[to], matrix.view()[static_cast<int>(from / n)][to], 1e-12);
        EXPECT_NEAR(y[to], matrix.view()[static_cast<int>(from % n)][to], 1e-12);
      }
      for (std::uint32_t k = 0; k < 1000; ++k) {
        steps.start(from);
        ++seen[steps.step({9, k, from})];
      }
      test.add(seen, row);
    }
    EXPECT_GT(test.degrees(), 300);
    EXPECT_TRUE(test.agrees());
  }
}

TEST(CoupledFlips, EqualChainsStayEqual) {
  for (const Case& c : cases()) {
    const StateTable table(*c.target);
    const auto sampler = make_sampler(c.sampler, *c.target, c.settings);
    const auto kernel = make_coupled_kernel(*c.target, *sampler);
    CoupledSteps steps(*c.target, table, *kernel);
    steps.start(1 * table.size() + 1);
    for (std::uint64_t k = 0; k < 1000; ++k) {
      const std::size_t to = steps.step({4, 0, k});
      ASSERT_EQ(to / table.size(), to % table.size());
      ASSERT_EQ(steps.tile.logp[0], steps.tile.logp[1]);
      const auto score = steps.tile.score;
      ASSERT_TRUE(std::equal(score[0], score[0] + score.cols, score[1]));
    }
  }
}

TEST(CoupledFlips, MeansAreWithoutBias) {
  std::vector<Case> all = cases();
  // Two flips in each step never change the parity of two-level coordinates.
  std::erase_if(all, [](const Case& c) { return c.settings.count("fixed") > 0; });
  all.push_back({"potts5", "gwg", potts5(), {{"flips", "1"}}});
  all.push_back({"potts5", "pas", potts5(), {}});
  for (const Case& c : all) {
    SCOPED_TRACE(std::string(c.model) + " " + c.sampler);
    CertifyRequest request;
    request.target = c.target;
    request.sampler = c.sampler;
    request.settings = c.settings;
    request.pairs = 1000;
    const CertifyResult r = certify(request);
    ASSERT_TRUE(r.certified());
    EXPECT_EQ(r.tuned, c.model == std::string("potts5") && c.sampler == std::string("pas"));
    for (const BoundAt& at : r.curve) {
      // The last term: what has a chance of 5e-5 not to show in any pair.
      EXPECT_LE(at.exact.value_or(0),
                at.value.bound + 4 * at.value.standard_error + 10.0 / request.pairs);
    }
    for (const UnbiasedMean& m : r.means)
      EXPECT_NEAR(m.mean, m.exact.value_or(m.mean), 4.5 * m.standard_error);
  }
}

}  // namespace
}  // namespace saltus
