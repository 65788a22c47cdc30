// Greedy ascent under a constraint: the state keeps it, and no change of one or two coordinates
// that it allows is better.
#include "anneal/ascent.hpp"

#include <gtest/gtest.h>

#include "larger_targets.hpp"
#include "saltus/target/constrained.hpp"

namespace saltus {
namespace {

TEST(Ascent, EndsWhereNoAllowedPairIsBetter) {
  const int dim = 14;
  for (std::uint32_t which = 0; which < 5; ++which) {
    const std::shared_ptr<const Target> model =
        make_ising(dim, ring(dim, 0.5, 3), some_numbers(dim, 2, which));
    for (const std::string text :
         {"sum=4", "sum=3..6", "parity=odd", "one-hot=0-4,5-13", "one-hot=2-6,9-11"}) {
      SCOPED_TRACE(text);
      const Constrained target(model, Constraint::parse(text, dim));
      std::vector<Symbol> x(dim);
      target.constraint()->draw(Stream(which, 0, 0, Purpose::check), x.data());
      const double before = logp_of(target, x.data());
      greedy_ascent(target, x.data());
      const double after = logp_of(target, x.data());
      ASSERT_TRUE(target.constraint()->allows(x.data()));
      EXPECT_GE(after, before);
      // Of a sum, exchanges alone; of groups, the changes of one of them.
      for (int i = 0; i < dim; ++i) {
        for (int j = i; j < dim; ++j) {
          std::vector<Symbol> y = x;
          const auto flip = [&](int k) {
            y[static_cast<std::size_t>(k)] = y[static_cast<std::size_t>(k)] ? 0 : 1;
          };
          flip(i);
          if (j > i) flip(j);
          if (!target.constraint()->allows(y.data())) continue;
          if (target.constraint()->kind() == Constraint::Kind::sum && j > i &&
              x[static_cast<std::size_t>(i)] + x[static_cast<std::size_t>(j)] != 1) {
            continue;
          }
          if (target.constraint()->kind() == Constraint::Kind::one_hot && j > i &&
              target.constraint()->partners(i).last != target.constraint()->partners(j).last) {
            continue;
          }
          EXPECT_LE(logp_of(target, y.data()), after + 1e-8) << i << " " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace saltus
