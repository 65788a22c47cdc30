// log p between the levels: at the levels it is log p, and its gradient is that of log p.
#include <gtest/gtest.h>

#include "saltus/core/philox.hpp"
#include "saltus/diagnose/exact.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

using Made = std::unique_ptr<Target>;

Made bits(Quadratic::Storage storage) {
  return Made(new Quadratic("bits", Domain::binary(5),
                            {{0, 0, -0.7}, {0, 1, 0.3}, {1, 2, -0.4}, {2, 0, 0.9}, {3, 4, 1.1}},
                            {0.5, 0.1, 0.3, -0.8, 0}, storage));
}

std::vector<SmallTarget> relaxed_targets() {
  std::vector<SmallTarget> list = small_targets();
  std::erase_if(list, [](const SmallTarget& t) { return !t.make()->domain().two_level(); });
  const auto lattice = [&](const std::string& name, int rows, int cols, bool periodic) {
    list.push_back({name, [=] { return Made(new IsingLattice(rows, cols, periodic, 0.3, -0.2)); }});
  };
  lattice("lattice_3x4", 3, 4, true);
  lattice("lattice_3x4_open", 3, 4, false);
  lattice("lattice_2x2", 2, 2, true);
  lattice("lattice_1x5", 1, 5, true);
  lattice("lattice_5x1_open", 5, 1, false);
  lattice("lattice_1x1", 1, 1, true);
  list.push_back({"bits_sparse", [] { return bits(Quadratic::Storage::sparse); }});
  list.push_back({"bits_dense", [] { return bits(Quadratic::Storage::dense); }});
  return list;
}

class RelaxationOf : public testing::TestWithParam<SmallTarget> {
 protected:
  const Made target = GetParam().make();
  const int dim = target->domain().dim();
  Scratch scratch;

  double logp_at(const float* v) {
    double logp = 0;
    target->relaxation()->evaluate_relaxed({0, 0, scratch}, {v, 1, dim, dim}, &logp, {});
    return logp;
  }
};

TEST_P(RelaxationOf, EqualsLogpAtTheLevels) {
  ASSERT_NE(target->relaxation(), nullptr);
  const StateTable table(*target);
  const int states = static_cast<int>(table.size());
  const RowBuffer<Symbol> x(states, dim);
  const RowBuffer<float> v(states, dim), score(states, dim), gradient(states, dim);
  std::vector<double> logp(table.size()), relaxed(table.size());
  for (int s = 0; s < states; ++s) {
    std::copy_n(table.state(static_cast<std::size_t>(s)), dim, x.view()[s]);
    for (int i = 0; i < dim; ++i) {
      v.view()[s][i] = static_cast<float>(target->domain().value(x.view()[s][i]));
    }
  }
  target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
  target->relaxation()->evaluate_relaxed({0, 0, scratch}, v.view(), relaxed.data(),
                                         gradient.view());
  for (int s = 0; s < states; ++s) {
    EXPECT_NEAR(relaxed[static_cast<std::size_t>(s)], logp[static_cast<std::size_t>(s)], 1e-6);
    for (int i = 0; i < dim; ++i) EXPECT_NEAR(gradient.view()[s][i], score.view()[s][i], 2e-6);
  }
}

// Five-point differences of step h: an error of h^4 / 30 times a fifth derivative, and of rounding
// in single precision over h.
TEST_P(RelaxationOf, GradientIsThatOfLogp) {
  constexpr float h = 1.0f / 16;
  constexpr int points = 20;
  const RowBuffer<float> v(points, dim), gradient(points, dim), alone(points, dim);
  std::vector<double> logp(points), logp_alone(points);
  const auto low = target->domain().first_value(), spacing = target->domain().spacing();
  for (int p = 0; p < points; ++p) {
    const Stream stream(7, static_cast<std::uint32_t>(p), 0, Purpose::check);
    for (int i = 0; i < dim; ++i) {
      const double u = stream.uniform(static_cast<std::uint32_t>(i));
      v.view()[p][i] = static_cast<float>(low + spacing * (1.5 * u - 0.25));
    }
  }
  const Relaxation& relaxation = *target->relaxation();
  relaxation.evaluate_relaxed({0, 0, scratch}, v.view(), logp.data(), gradient.view());
  relaxation.evaluate_relaxed({0, 0, scratch}, v.view(), nullptr, alone.view());
  relaxation.evaluate_relaxed({0, 0, scratch}, v.view(), logp_alone.data(), {});
  EXPECT_EQ(logp, logp_alone);
  for (int p = 0; p < points; ++p) {
    std::vector<float> at(v.view()[p], v.view()[p] + dim);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const float here = at[i];
      const auto moved = [&](float by) {
        at[i] = here + by;
        return logp_at(at.data());
      };
      const double slope =
          (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * double{h});
      at[i] = here;
      EXPECT_NEAR(gradient.view()[p][i], slope, 3e-5) << "coordinate " << i;
      EXPECT_EQ(gradient.view()[p][i], alone.view()[p][i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RelaxationOf, testing::ValuesIn(relaxed_targets()),
                         [](const auto& p) { return p.param.name; });

TEST(Relaxation, IsForTwoLevels) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    EXPECT_EQ(target->relaxation() != nullptr, target->domain().two_level()) << small.name;
  }
  const auto flat = [](std::span<const double>, std::span<double> g) {
    std::fill(g.begin(), g.end(), 0.0);
    return 0.0;
  };
  EXPECT_NE(Function(Domain::spin(3), flat).relaxation(), nullptr);
  EXPECT_EQ(Function(Domain::ordered(3, 3), flat).relaxation(), nullptr);
  EXPECT_EQ(Function(Domain::categorical(3, 2), flat).relaxation(), nullptr);
}

}  // namespace
}  // namespace saltus
