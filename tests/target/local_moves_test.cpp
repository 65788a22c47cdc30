// Changes of single coordinates against evaluations from scratch, on every target that offers them.
#include "saltus/target/abilities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "given_targets.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus {
namespace {

class LocalMovesOf : public testing::TestWithParam<SmallTarget> {};

struct EvaluatedRow {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, target_cache;
  double logp = 0;
  explicit EvaluatedRow(const Target& target)
      : x(1, target.domain().dim()),
        score(1, target.domain().score_size()),
        target_cache(1, std::max(1, target.cache_size())) {}
  void evaluate(const Target& target) {
    Scratch scratch;
    target.evaluate_and_cache({0, 0, scratch}, x.view(), &logp, score.view(), target_cache.view());
  }
  LocalRow local(const Target& target) const {
    return {x.view()[0], score.view()[0], target.cache_size() ? target_cache.view()[0] : nullptr};
  }
};

TEST_P(LocalMovesOf, DifferencesAreThoseOfLogp) {
  const auto target = GetParam().make();
  const LocalMoves* local = target->local_moves();
  const StateTable table(*target, 6);
  for (std::size_t s = 0; s < table.size(); ++s) {
    EvaluatedRow row(*target);
    std::copy_n(table.state(s), table.domain().dim(), row.x.view()[0]);
    row.evaluate(*target);
    for (int i = 0; i < table.domain().dim(); ++i) {
      std::vector<double> out(static_cast<std::size_t>(table.domain().levels(i)));
      local->differences(row.local(*target), i, 0, table.domain().levels(i), out.data());
      for (std::size_t k = 0; k < out.size(); ++k) {
        std::vector<Symbol> y(table.state(s), table.state(s) + table.domain().dim());
        y[static_cast<std::size_t>(i)] = static_cast<Symbol>(k);
        EXPECT_NEAR(out[k], table.logp(table.index(y.data())) - table.logp(s), 2e-6);
      }
      double last = 0;  // a part of the levels
      const int top = table.domain().levels(i) - 1;
      local->differences(row.local(*target), i, top, 1, &last);
      EXPECT_EQ(last, out.back());
    }
  }
}

TEST_P(LocalMovesOf, MovesBringEverythingUpToDate) {
  const auto target = GetParam().make();
  const LocalMoves* local = target->local_moves();
  const int dim = target->domain().dim();
  // What Given keeps besides is the model's score, which counts where the row's score does.
  const auto* given = dynamic_cast<const Given*>(target.get());
  const int cached = given ? given->model().cache_size() : target->cache_size();
  EvaluatedRow row(*target);
  row.evaluate(*target);
  const Stream stream(1, 0, 0, Purpose::check);
  for (std::uint32_t t = 0; t < 200; ++t) {
    const int i = static_cast<int>(stream.uniform(2 * t) * dim);
    const int levels = std::min(6, target->domain().levels(i));
    const auto to = static_cast<Symbol>(stream.uniform(2 * t + 1) * levels);
    EvaluatedRow before(*target);
    std::copy_n(row.x.view()[0], dim, before.x.view()[0]);
    before.evaluate(*target);
    local->move(row.local(*target), i, to);
    EXPECT_EQ(row.x.view()[0][i], to);
    EvaluatedRow fresh(*target);
    std::copy_n(row.x.view()[0], dim, fresh.x.view()[0]);
    fresh.evaluate(*target);
    for (int k = 0; local->moves_keep_score() && k < target->domain().score_size(); ++k) {
      EXPECT_NEAR(row.score.view()[0][k], fresh.score.view()[0][k], 1e-5);
    }
    for (int k = 0; k < cached; ++k) {
      EXPECT_NEAR(row.target_cache.view()[0][k], fresh.target_cache.view()[0][k], 1e-5);
    }
    // Scores change at the neighbours alone (and at the coordinate itself).
    std::vector<std::int32_t> room(static_cast<std::size_t>(local->max_neighbours()));
    const auto list = local->neighbours(i, room.data());
    std::set<int> touched(list.begin(), list.end());
    touched.insert(i);
    for (int j = 0; j < dim; ++j) {
      if (touched.count(j)) continue;
      const bool categorical = target->domain().kind() == Domain::Kind::categorical;
      for (int k = 0; k < (categorical ? target->domain().levels(j) : 1); ++k) {
        const int at = target->domain().score_begin(j) + k;
        EXPECT_EQ(before.score.view()[0][at], fresh.score.view()[0][at]) << i << " " << j;
      }
    }
  }
}

std::vector<SmallTarget> targets_with_local_moves() {
  std::vector<SmallTarget> list = small_targets();
  for (SmallTarget& t : given_targets()) {
    if (!t.make()->forbidden_states()) list.push_back(std::move(t));
  }
  list.push_back({"graph_levels", [] {
                    return std::make_unique<GraphTarget>(
                        GraphModel{3,
                                   3,
                                   {{0, 1, 1}, {2, 1, 0.7}},
                                   {0.3, -0.5, 0, -0.5, 0.2, 0.4, 0, 0.4, -0.1},
                                   {0.1, -0.3, 0.2},
                                   {-0.2, -0.3, 0.1},
                                   1,
                                   -0.4});
                  }});
  std::erase_if(list, [](const SmallTarget& t) { return !t.make()->local_moves(); });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Targets, LocalMovesOf, testing::ValuesIn(targets_with_local_moves()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace saltus
