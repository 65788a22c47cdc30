// A constant moves log p, wherever it is computed, and nothing else.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace {

using namespace saltus;

constexpr double kConstant = 3.25;

std::vector<Coupling> all_pairs(int n) {
  std::vector<Coupling> pairs;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) pairs.push_back({i, j, 0.01 * (i - j) + 0.1});
  }
  return pairs;
}

// Each model, sparse and dense, without a constant and with it.
std::vector<std::pair<AnyModel, AnyModel>> models() {
  std::vector<std::pair<AnyModel, AnyModel>> list;
  const auto add = [&](auto model) {
    auto moved = model;
    moved.constant = kConstant;
    list.emplace_back(std::move(model), std::move(moved));
  };
  for (const int n : {6, 40}) {
    const std::vector<double> fields(static_cast<std::size_t>(n), 0.3);
    add(IsingModel{n, all_pairs(n), fields});
    add(QuadraticModel{Domain::binary(n), all_pairs(n), fields});
    add(QuadraticModel{Domain::ordered(n, 3), all_pairs(n), fields});
  }
  add(LatticeModel{{3, 4}, true, 0.2, 0.1});
  add(LatticeModel{{2, 2, 3}, false, 0.2, 0.1});
  add(PottsModel{Domain::categorical(3, 2),
                 {0, 1, 2, 3, 4, 5},
                 {{0, 2, {0.1, 0.2, 0.3, 0.4}}, {0, 1, {1, 2, 3, 4}}}});
  return list;
}

RowBuffer<Symbol> states(const Domain& domain, std::uint64_t seed) {
  RowBuffer<Symbol> x(3, domain.dim());
  for (int r = 0; r < 3; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (int i = 0; i < domain.dim(); ++i) {
      const double u = stream.uniform(static_cast<std::uint32_t>(i));
      x.view()[r][i] = static_cast<Symbol>(u * domain.levels(i));
    }
  }
  return x;
}

TEST(Constant, MovesLogpAlone) {
  for (const auto& [plain_model, moved_model] : models()) {
    const auto plain = make_target(plain_model), moved = make_target(moved_model);
    const Domain& domain = plain->domain();
    const RowBuffer<Symbol> x = states(domain, 1), y = states(domain, 2);
    Scratch scratch;
    const At at{0, 0, scratch};
    const int scores = domain.score_size();
    RowBuffer<float> score(3, scores), other(3, scores), near(3, scores), cache(3, 1);
    std::vector<double> a(3), b(3);
    plain->evaluate(at, x.view(), a.data(), score.view());
    moved->evaluate(at, x.view(), b.data(), other.view());
    for (std::size_t r = 0; r < 3; ++r) {
      EXPECT_NEAR(b[r] - a[r], kConstant, 1e-12) << plain->name();
      const auto row = static_cast<int>(r);
      for (int i = 0; i < scores; ++i) EXPECT_EQ(score.view()[row][i], other.view()[row][i]);
      EXPECT_NEAR(logp_of(*moved, x.view()[row]) - logp_of(*plain, x.view()[row]), kConstant,
                  1e-12);
    }
    // A state that differs in one coordinate: the quick way of a dense model.
    RowBuffer<Symbol> close = states(domain, 1);
    for (int r = 0; r < 3; ++r)
      close.view()[r][0] = static_cast<Symbol>(1 - close.view()[r][0] % 2);
    for (const Rows<const Symbol> to :
         {Rows<const Symbol>(close.view()), Rows<const Symbol>(y.view())}) {
      moved->evaluate(at, to, a.data(), near.view());
      moved->evaluate_near(at, {x.view(), other.view(), {}}, to, b.data(), near.view(), {});
      for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(a[r], b[r], 2e-4) << plain->name();
    }
    if (!moved->relaxation()) continue;
    RowBuffer<float> v(3, domain.dim()), gradient(3, domain.dim());
    for (int r = 0; r < 3; ++r) {
      for (int i = 0; i < domain.dim(); ++i)
        v.view()[r][i] = static_cast<float>(domain.value(x.view()[r][i]));
    }
    plain->relaxation()->evaluate_relaxed(at, v.view(), a.data(), gradient.view());
    moved->relaxation()->evaluate_relaxed(at, v.view(), b.data(), gradient.view());
    for (std::size_t r = 0; r < 3; ++r) EXPECT_NEAR(b[r] - a[r], kConstant, 1e-6) << plain->name();
  }
}

TEST(Constant, IsMultipliedByBeta) {
  const IsingModel model{2, {{0, 1, 0.5}}, {0.25, 0}, kConstant};
  const auto hot = std::get<IsingModel>(scaled(model, 2));
  EXPECT_EQ(hot.constant, 2 * kConstant);
  EXPECT_EQ(hot.couplings[0].weight, 1);
  EXPECT_EQ(hot.fields[0], 0.5);
}

}  // namespace
