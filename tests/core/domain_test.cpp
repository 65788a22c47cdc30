#include "saltus/core/domain.hpp"

#include <gtest/gtest.h>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

TEST(Domain, ValuesOfTwoLevelDomains) {
  EXPECT_TRUE(Domain::binary(3).two_level());
  EXPECT_EQ(Domain::binary(3).value(1), 1);
  EXPECT_TRUE(Domain::spin(3).two_level());
  EXPECT_EQ(Domain::spin(3).value(0), -1);
  EXPECT_EQ(Domain::spin(3).value(1), 1);
}

TEST(Domain, MixedLevelsAreNotTwoLevel) {
  const Domain d = Domain::ordered({2, 5, 3});
  EXPECT_FALSE(d.two_level());
  EXPECT_EQ(d.levels(1), 5);
  EXPECT_EQ(d.max_levels(), 5);
  EXPECT_EQ(d.score_size(), 3);
  EXPECT_EQ(d.states(100), 30u);
  EXPECT_EQ(d.states(29), std::nullopt);
}

TEST(Domain, CategoricalScoresAreRagged) {
  const Domain d = Domain::categorical({3, 2, 4});
  EXPECT_EQ(d.score_begin(0), 0);
  EXPECT_EQ(d.score_begin(1), 3);
  EXPECT_EQ(d.score_begin(2), 5);
  EXPECT_EQ(d.score_size(), 9);
  EXPECT_EQ(Domain::categorical(4, 5).score_begin(2), 10);
  EXPECT_FALSE(Domain::categorical(4, 2).two_level());
}

TEST(Domain, TruncationKeepsValuesAndKind) {
  const Domain d = Domain::integers(2).truncated(10);
  EXPECT_EQ(d.levels(0), 10);
  EXPECT_TRUE(d.unbounded());
}

TEST(Domain, RefusesWhatCannotBe) {
  EXPECT_THROW(Domain::binary(0), DataError);
  EXPECT_THROW(Domain::ordered({2, 1}), DataError);
  EXPECT_THROW(Domain::ordered(3, 70000), DataError);
  EXPECT_THROW(Domain::categorical(std::vector<int>{}), DataError);
}

}  // namespace
}  // namespace saltus
