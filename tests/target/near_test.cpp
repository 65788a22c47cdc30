// Evaluations near an evaluated state against evaluations from scratch.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "saltus/core/philox.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

struct NearTarget {
  std::string name;
  std::function<std::unique_ptr<Target>()> make;
  friend void PrintTo(const NearTarget& t, std::ostream* out) { *out << t.name; }
};

// Normal-sized numbers.
std::vector<double> numbers(std::size_t count, double deviation, std::uint32_t which) {
  const Stream s(5, which, 0, Purpose::check);
  std::vector<double> v(count);
  for (std::size_t i = 0; i < count; ++i) {
    v[i] = deviation * std::sqrt(12.0) * (s.uniform(static_cast<std::uint32_t>(i)) - 0.5);
  }
  return v;
}

std::unique_ptr<Target> rbm(std::size_t visible, std::size_t hidden) {
  std::vector<double> b = numbers(visible, 0.5, 2);
  for (double& v : b) v -= 1;
  return std::make_unique<Rbm>(numbers(visible * hidden, 0.3, 1), b, numbers(hidden, 0.3, 3));
}

std::unique_ptr<Target> dense(Domain domain) {
  const int n = domain.dim();
  const auto weights =
      numbers(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.5 / std::sqrt(n), 4);
  std::vector<Coupling> couplings;
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) couplings.push_back({i, j, weights[couplings.size()]});
  }
  return std::make_unique<Quadratic>("dense", std::move(domain), couplings,
                                     numbers(static_cast<std::size_t>(n), 0.3, 5),
                                     Quadratic::Storage::dense);
}

class Near : public testing::TestWithParam<NearTarget> {};

struct Evaluated {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, target_cache;
  std::vector<double> logp;
  Evaluated(const Target& target, int rows)
      : x(rows, target.domain().dim()),
        score(rows, target.domain().score_size()),
        target_cache(rows, std::max(1, target.cache_size())),
        logp(static_cast<std::size_t>(rows)) {}
  void evaluate(const Target& target, Scratch& scratch) {
    target.evaluate_and_cache({0, 0, scratch}, x.view(), logp.data(), score.view(),
                              target_cache.view());
  }
  void evaluate_near(const Target& target, Scratch& scratch, const Evaluated& known) {
    const Rows<float> known_kept = target.cache_size() ? known.target_cache.view() : Rows<float>{};
    target.evaluate_near({0, 0, scratch}, {known.x.view(), known.score.view(), known_kept},
                         x.view(), logp.data(), score.view(), target_cache.view());
  }
};

// Row r of y: row r of x with about `part(r)` of the coordinates drawn anew.
void redraw(const Target& target, const Evaluated& x, Evaluated& y, std::uint64_t step,
            const std::function<double(int)>& part) {
  const Domain& domain = target.domain();
  for (int r = 0; r < x.x.view().rows; ++r) {
    const Stream s(6, static_cast<std::uint32_t>(r), step, Purpose::check);
    for (int i = 0; i < domain.dim(); ++i) {
      const auto at = static_cast<std::uint32_t>(2 * i);
      const bool anew = s.uniform(at) < part(r);
      const auto drawn = static_cast<Symbol>(s.uniform(at + 1) * domain.levels(i));
      y.x.view()[r][i] = anew ? drawn : x.x.view()[r][i];
    }
  }
}

// Fields and pre-activations are sums of n terms of size up to some s in single precision; with the
// numbers above the sums stay below 16, and one addition is off by at most half a unit in the last
// place of that: 2^-21. They add up like a random walk; `additions` counts them. log p then sums n
// of these errors, each with a factor of at most 3 (the largest value of a coordinate).
void expect_equal(const Target& target, const Evaluated& a, const Evaluated& b, double additions) {
  const double error = 6 * 0x1p-21 * std::sqrt(additions);
  const int n = target.domain().dim();
  for (int r = 0; r < a.x.view().rows; ++r) {
    for (int i = 0; i < n; ++i) {
      ASSERT_NEAR(a.score.view()[r][i], b.score.view()[r][i], 2 * error) << r << " " << i;
    }
    for (int h = 0; h < target.cache_size(); ++h) {
      ASSERT_NEAR(a.target_cache.view()[r][h], b.target_cache.view()[r][h], error) << r << " " << h;
    }
    const auto k = static_cast<std::size_t>(r);
    ASSERT_NEAR(a.logp[k], b.logp[k], 3 * error * std::sqrt(n)) << r;
  }
}

// Rows that keep all coordinates, change one, some, or nearly all, in one tile.
TEST_P(Near, EqualsAnEvaluationFromScratch) {
  const auto target = GetParam().make();
  ASSERT_TRUE(target->cheap_near());
  Scratch scratch;
  Evaluated x(*target, 13), near(*target, 13), fresh(*target, 13);
  const auto half = [](int) { return 0.5; };
  for (std::uint64_t round = 0; round < 20; ++round) {
    redraw(*target, x, x, 2 * round, half);
    x.evaluate(*target, scratch);
    redraw(*target, x, near, 2 * round + 1, [](int r) { return r / 12.0 * r / 12.0; });
    redraw(*target, x, fresh, 2 * round + 1, [](int r) { return r / 12.0 * r / 12.0; });
    near.evaluate_near(*target, scratch, x);
    fresh.evaluate(*target, scratch);
    expect_equal(*target, near, fresh, 2.0 * target->domain().dim());
    RowBuffer<double> exact(13, target->domain().dim());
    std::vector<double> logp(13);
    target->evaluate_exact({0, 0, scratch}, near.x.view(), logp.data(), exact.view());
    for (int r = 0; r < 13; ++r) {
      ASSERT_NEAR(near.logp[static_cast<std::size_t>(r)], logp[static_cast<std::size_t>(r)], 1e-3);
    }
  }
}

TEST_P(Near, StaysCloseOverManySteps) {
  const auto target = GetParam().make();
  Scratch scratch;
  Evaluated a(*target, 4), b(*target, 4), fresh(*target, 4);
  a.evaluate(*target, scratch);
  for (std::uint64_t step = 0; step < 256; ++step) {
    redraw(*target, a, b, step, [](int) { return 0.1; });
    b.evaluate_near(*target, scratch, a);
    std::swap(a, b);
  }
  redraw(*target, a, fresh, 0, [](int) { return 0.0; });
  fresh.evaluate(*target, scratch);
  expect_equal(*target, a, fresh, 256 * 0.1 * target->domain().dim());
}

// The target without its shortcut.
class Afresh final : public Target {
 public:
  explicit Afresh(const Target& target) : target_(target) {}
  std::string name() const override { return target_.name(); }
  const Domain& domain() const override { return target_.domain(); }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp,
                Rows<float> score) const override {
    target_.evaluate(at, x, logp, score);
  }
  int preferred_tile() const override { return target_.preferred_tile(); }

 private:
  const Target& target_;
};

RunPlan plan_of(std::uint64_t seed) {
  RunPlan plan;
  plan.chains = 10;
  plan.warmup = 500;
  plan.draws = 1000;
  plan.seed = seed;
  plan.threads = 1;
  return plan;
}

// Of two independent runs the mean acceptance probabilities agree within their standard errors:
// below 0.3 / sqrt(independent steps), of which there is at least one in 20.
TEST_P(Near, RunsHaveTheSameAcceptance) {
  const auto target = GetParam().make();
  const Afresh afresh(*target);
  const auto acceptance = [](const Target& of, std::uint64_t seed) {
    saltus::Run run(of, make_sampler("dmala", of, {{"step_size", "0.25"}}), plan_of(seed));
    run.start();
    run.go();
    return run.statistics().acceptance;
  };
  const double near = acceptance(*target, 1);
  EXPECT_GT(near, 0.1);
  EXPECT_LT(near, 0.98);
  EXPECT_NEAR(near, acceptance(afresh, 2), 5 * 0.3 * std::sqrt(2 / (10000.0 / 20)));
}

// Stopped every few steps, so between two evaluations from scratch. The sum of all acceptance
// probabilities shows a difference in any bit of any step.
TEST_P(Near, SavedAndRestoredRunsGoOnAsIfNeverStopped) {
  const auto target = GetParam().make();
  const auto in_parts = [&](int rounds_of_part) {
    std::vector<std::byte> saved;
    for (int part = 0;; ++part) {
      saltus::Run run(*target, make_sampler("dmala", *target, {{"step_size", "0.25"}}), plan_of(3));
      if (part == 0) {
        run.start();
      } else {
        ByteReader in(saved);
        run.restore(in);
      }
      int rounds = 0;
      if (run.go([&](const RunStatus&) { return ++rounds < rounds_of_part; })) {
        EXPECT_EQ(part > 10, rounds_of_part < 10);
        return std::pair(std::vector(run.state(9), run.state(9) + target->domain().dim()),
                         run.statistics().acceptance);
      }
      ByteWriter out;
      run.save(out);
      saved.assign(out.bytes().begin(), out.bytes().end());
    }
  };
  EXPECT_EQ(in_parts(3), in_parts(1000000));
}

INSTANTIATE_TEST_SUITE_P(
    Targets, Near,
    testing::Values(NearTarget{"rbm", [] { return rbm(90, 37); }},
                    NearTarget{"small_rbm", [] { return rbm(5, 3); }},
                    NearTarget{"spins", [] { return dense(Domain::spin(70)); }},
                    NearTarget{"levels", [] { return dense(Domain::ordered(40, 4)); }}),
    [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace saltus
