#include "saltus/target/tempered.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "anneal/bases.hpp"
#include "conformance/sampler_settings.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

std::vector<SmallTarget> bounded_targets() {
  std::vector<SmallTarget> list = small_targets();
  std::erase_if(list, [](const SmallTarget& t) { return t.name == "poisson"; });
  return list;
}

TEST(IndependentBase, IsNormalised) {
  for (const SmallTarget& t : bounded_targets()) {
    const auto target = t.make();
    for (const Independent& base :
         {uneven_base(target->domain()), Independent::uniform(target->domain())}) {
      const StateTable table(*target);
      double sum = 0;
      for (std::size_t s = 0; s < table.size(); ++s) {
        double logp = 0;
        for (int i = 0; i < table.domain().dim(); ++i) {
          logp += base.log_probability(i, table.state(s)[i]);
        }
        EXPECT_NEAR(logp, base.log_probability(table.state(s)), 1e-13);
        sum += std::exp(logp);
      }
      EXPECT_NEAR(sum, 1, 1e-13) << t.name;
    }
  }
}

TEST(IndependentBase, DrawsEveryLevelAsOftenAsItSays) {
  const Domain domain = Domain::categorical({3, 2, 4});
  const Independent base = uneven_base(domain);
  constexpr int n = 40000;
  std::vector<int> count(3 * 4);
  std::vector<Symbol> x(3);
  for (std::uint32_t chain = 0; chain < n; ++chain) {
    base.draw(Stream(4, chain, 0, Purpose::start), x.data());
    for (std::size_t i = 0; i < 3; ++i) ++count[i * 4 + x[i]];
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < domain.levels(i); ++k) {
      const double p = std::exp(base.log_probability(i, k));
      EXPECT_NEAR(count[static_cast<std::size_t>(i * 4 + k)] / double{n}, p,
                  4 * std::sqrt(p * (1 - p) / n));
    }
  }
}

TEST(IndependentBase, RefusesWhatIsNoLaw) {
  const Domain bits = Domain::binary(2);
  EXPECT_THROW(Independent::bernoulli(bits, std::vector{0.5}), DataError);
  EXPECT_THROW(Independent::bernoulli(bits, std::vector{0.5, 1.0}), DataError);
  EXPECT_THROW(Independent::bernoulli(bits, std::vector{0.0, 0.5}), DataError);
  EXPECT_THROW(Independent::bernoulli(bits, std::vector<double>{0.5, NAN}), DataError);
  EXPECT_THROW(Independent::of_levels(bits, std::vector{0.5, 0.5, 0.3, 0.6}), DataError);
  EXPECT_THROW(Independent::of_levels(bits, std::vector{0.5, 0.5, 0.0, 1.0}), DataError);
  EXPECT_THROW(Independent::uniform(Domain::integers(2)), UsageError);
  EXPECT_THROW(Independent::bernoulli(Domain::ordered(2, 3), std::vector{0.5, 0.5}), UsageError);
  const Bernoulli model({0.1, 0.2});
  EXPECT_THROW(Tempered(model, Independent::uniform(Domain::binary(3))), UsageError);
  Tempered path(model, Independent::bernoulli(bits, std::vector{0.5, 0.4}));
  EXPECT_THROW(path.set_beta(1.5), UsageError);
  EXPECT_THROW(path.set_beta(NAN), UsageError);
}

class TemperedTarget : public testing::TestWithParam<SmallTarget> {
 protected:
  std::unique_ptr<Target> model_ = GetParam().make();
  Tempered path_{*model_, uneven_base(model_->domain())};
};

// A score of the base that is not that of log p shows as a difference between levels.
TEST_P(TemperedTarget, MixesLogpAndScore) {
  const StateTable model(*model_);
  for (const double beta : {0.0, 0.3, 1.0}) {
    path_.set_beta(beta);
    const StateTable table(path_);
    for (std::size_t s = 0; s < table.size(); ++s) {
      EXPECT_NEAR(table.logp(s),
                  beta * model.logp(s) + (1 - beta) * path_.base().log_probability(table.state(s)),
                  1e-12);
      const Domain& domain = table.domain();
      for (int i = 0; i < domain.dim(); ++i) {
        const bool by_level = domain.kind() == Domain::Kind::categorical;
        for (int k = 0; k < (by_level ? domain.levels(i) : 1); ++k) {
          const int c = domain.score_begin(i) + k;
          const double base = path_.base().score(i, by_level ? k : table.state(s)[i]);
          EXPECT_NEAR(table.score(s)[c], beta * model.score(s)[c] + (1 - beta) * base, 1e-12);
          if (!domain.two_level()) continue;
          EXPECT_NEAR(base * domain.spacing(),
                      path_.base().log_probability(i, 1) - path_.base().log_probability(i, 0),
                      1e-12);
        }
      }
    }
  }
}

// All states in one tile, in single precision.
struct AllStates {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, target_cache;
  std::vector<double> logp;
  explicit AllStates(const Target& target, const StateTable& table)
      : x(static_cast<int>(table.size()), target.domain().dim()),
        score(x.view().rows, target.domain().score_size()),
        target_cache(x.view().rows, std::max(1, target.cache_size())),
        logp(table.size()) {
    for (int s = 0; s < x.view().rows; ++s) {
      std::copy_n(table.state(static_cast<std::size_t>(s)), x.view().cols, x.view()[s]);
    }
  }
  Rows<float> cache_rows(const Target& target) const {
    return target.cache_size() ? target_cache.view() : Rows<float>{};
  }
  void expect_near(const AllStates& other, double error) const {
    for (int s = 0; s < x.view().rows; ++s) {
      ASSERT_NEAR(logp[static_cast<std::size_t>(s)], other.logp[static_cast<std::size_t>(s)],
                  error);
      for (int c = 0; c < score.view().cols; ++c) {
        ASSERT_NEAR(score.view()[s][c], other.score.view()[s][c], error);
      }
    }
  }
};

TEST_P(TemperedTarget, ChangesBetaWithoutAnEvaluation) {
  const StateTable table(*model_);
  Scratch scratch;
  AllStates a(path_, table), b(path_, table);
  for (const auto& [from, to] : {std::pair{0.4, 0.7}, {0.7, 0.2}, {1.0, 0.0}, {0.3, 0.3}}) {
    path_.set_beta(from);
    path_.evaluate_and_cache({0, 0, scratch}, a.x.view(), a.logp.data(), a.score.view(),
                             a.cache_rows(path_));
    std::vector<double> ratios;
    for (int s = 0; s < a.x.view().rows; ++s) {
      ratios.push_back(path_.log_ratio(a.x.view()[s], a.logp[static_cast<std::size_t>(s)]));
    }
    path_.set_beta(to);
    EXPECT_EQ(path_.beta(), to);
    path_.mix_score(a.x.view(), a.cache_rows(path_), a.score.view());
    for (int s = 0; s < a.x.view().rows; ++s) {
      a.logp[static_cast<std::size_t>(s)] =
          path_.base().log_probability(a.x.view()[s]) + to * ratios[static_cast<std::size_t>(s)];
    }
    path_.evaluate({0, 0, scratch}, b.x.view(), b.logp.data(), b.score.view());
    a.expect_near(b, 3e-6);
  }
}

// From every state to the next one in the table, which differs in one coordinate or in all.
TEST_P(TemperedTarget, EvaluatesNearAnEvaluatedState) {
  ASSERT_EQ(path_.cheap_near(), model_->cheap_near());
  if (!path_.cheap_near()) return;
  const StateTable table(*model_);
  Scratch scratch;
  AllStates x(path_, table), y(path_, table), fresh(path_, table);
  const int n = x.x.view().rows;
  for (int s = 0; s < n; ++s) {
    for (AllStates* to : {&y, &fresh}) {
      std::copy_n(x.x.view()[(s + 1) % n], x.x.view().cols, to->x.view()[s]);
    }
  }
  path_.set_beta(0.35);
  path_.evaluate_and_cache({0, 0, scratch}, x.x.view(), x.logp.data(), x.score.view(),
                           x.cache_rows(path_));
  path_.set_beta(0.6);  // kept values do not depend on it
  const Target::Evaluated known{x.x.view(), x.score.view(), x.cache_rows(path_)};
  path_.evaluate({0, 0, scratch}, fresh.x.view(), fresh.logp.data(), fresh.score.view());
  path_.evaluate_near({0, 0, scratch}, known, y.x.view(), y.logp.data(), y.score.view(),
                      y.cache_rows(path_));
  y.expect_near(fresh, 3e-6);
  path_.evaluate_near({0, 0, scratch}, known, y.x.view(), y.logp.data(), y.score.view(), {});
  y.expect_near(fresh, 3e-6);
}

// Kept values that a walk by local moves has brought along still give the differences of log p.
TEST_P(TemperedTarget, MovesLocally) {
  const LocalMoves* moves = path_.local_moves();
  ASSERT_EQ(moves != nullptr, model_->local_moves() != nullptr);
  if (!moves) return;
  const Domain& domain = path_.domain();
  Scratch scratch;
  path_.set_beta(0.45);
  RowBuffer<Symbol> x(1, domain.dim());
  RowBuffer<float> target_cache(1, std::max(1, path_.cache_size()));
  double logp = 0;
  path_.evaluate_and_cache({0, 0, scratch}, x.view(), &logp, {},
                           path_.cache_size() ? target_cache.view() : Rows<float>{});
  const LocalRow row{x.view()[0], nullptr,
                     moves->need_target_cache() ? target_cache.view()[0] : nullptr};
  std::vector<double> out(static_cast<std::size_t>(domain.max_levels()));
  for (std::uint32_t step = 0; step < 60; ++step) {
    const auto i = static_cast<int>(step * 7 % static_cast<std::uint32_t>(domain.dim()));
    const auto to = static_cast<Symbol>((x.view()[0][i] + 1) % domain.levels(i));
    moves->differences(row, i, 0, domain.levels(i), out.data());
    EXPECT_NEAR(out[x.view()[0][i]], 0, 1e-12);
    logp += out[to];
    moves->move(row, i, to);
    ASSERT_NEAR(logp, logp_of(path_, x.view()[0]), 1e-4) << step;
  }
}

// Two settings of each sampler: what differs here is the target.
TEST_P(TemperedTarget, IsSampledExactly) {
  path_.set_beta(0.4);
  const StateTable table(path_);
  const auto steps =
      static_cast<std::uint64_t>(std::max(256.0, 40000.0 / static_cast<double>(table.size())));
  int tried = 0;
  for (const SamplerEntry& entry : sampler_entries()) {
    if (!serves(entry, path_)) continue;
    std::vector<Settings> list = settings_of(entry.name, path_);
    list = {list[list.size() / 2], list.back()};
    for (const Settings& settings : list) {
      SCOPED_TRACE(entry.name);
      const auto sampler = make_sampler(entry.name, path_, settings);
      if (!sampler->enumerable() || !sampler->exact()) continue;
      ++tried;
      EXPECT_LT(check_transitions(*sampler, table).invariance, 1e-12);
      const StepCheck s = check_steps(*sampler, path_, table, steps);
      EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
      EXPECT_FALSE(s.impossible);
    }
  }
  EXPECT_GE(tried, 10);
}

INSTANTIATE_TEST_SUITE_P(Targets, TemperedTarget, testing::ValuesIn(bounded_targets()),
                         [](const auto& p) { return p.param.name; });

// The hidden units of a tempered law are those of another one: a Metropolis test makes up for it.
TEST(TemperedRbm, IsSampledByBlockGibbsAtEveryBeta) {
  const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  Tempered path(rbm, uneven_base(rbm.domain()));
  for (const double beta : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    SCOPED_TRACE(beta);
    path.set_beta(beta);
    const StateTable table(path);
    const auto sampler = make_sampler("block_gibbs", path, {});
    EXPECT_LT(check_transitions(*sampler, table).invariance, 1e-12);
    const StepCheck s = check_steps(*sampler, path, table, 20000);
    EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
  }
}

// Between the levels log p is a mixture, too, and at the levels it is log p itself.
TEST_P(TemperedTarget, IsRelaxed) {
  if (!path_.relaxation()) return;
  path_.set_beta(0.3);
  const StateTable table(path_);
  Scratch scratch;
  const Domain& domain = path_.domain();
  RowBuffer<float> v(1, domain.dim()), gradient(1, domain.dim());
  for (std::size_t s = 0; s < table.size(); ++s) {
    for (int i = 0; i < domain.dim(); ++i) {
      v.view()[0][i] = static_cast<float>(domain.value(table.state(s)[i]));
    }
    double logp = 0;
    path_.relaxation()->evaluate_relaxed({0, 0, scratch}, v.view(), &logp, gradient.view());
    EXPECT_NEAR(logp, table.logp(s), 3e-6);
    for (int i = 0; i < domain.dim(); ++i) {
      EXPECT_NEAR(double{gradient.view()[0][i]}, table.score(s)[i], 3e-6);
    }
  }
}

}  // namespace
}  // namespace saltus
