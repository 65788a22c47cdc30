#include "saltus/target/constraint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "saltus/core/error.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/potts.hpp"

namespace saltus {
namespace {

std::string message(const std::string& text, int dim) {
  try {
    return "allowed: " + Constraint::parse(text, dim).text();
  } catch (const UsageError& e) {
    return e.what();
  }
}

TEST(Constraint, IsReadAndWritten) {
  for (const std::string text : {"sum=3", "sum=2..4", "sum=0..2", "parity=even", "parity=odd",
                                 "one-hot=0-3,4-7", "one-hot=2-4,6-7"}) {
    EXPECT_EQ(message(text, 8), "allowed: " + text);
  }
  EXPECT_EQ(message("one-hot=4-7,0-3", 8), "allowed: one-hot=0-3,4-7");
}

TEST(Constraint, RefusesInWords) {
  for (const std::string text : {"", "sum", "sum=", "sum=x", "sum=1..", "sum=..2", "sum=1-2",
                                 "sum=-1", "total=3", "parity=1", "one-hot=", "one-hot=1..2"}) {
    EXPECT_NE(message(text, 8).find("is none of sum=K"), std::string::npos) << text;
  }
  const std::map<std::string, std::string> others = {
      {"sum=4..2", "empty range"},    {"sum=9", "more than the 8 coordinates"},
      {"sum=0", "single state"},      {"sum=8", "single state"},
      {"one-hot=0-3,3-7", "overlap"}, {"one-hot=0-8", "range of the coordinates 0 to 7"},
      {"one-hot=5-4", "not a range"}};
  for (const auto& [text, words] : others) {
    EXPECT_NE(message(text, 8).find(words), std::string::npos) << message(text, 8);
  }
  const auto potts =
      std::make_shared<Potts>(PottsModel{Domain::categorical(2, 3), std::vector<double>(6), {}});
  EXPECT_THROW(Constrained(potts, Constraint::sum(2, 1, 1)), UsageError);
}

// Going through the states finds each allowed one once, in order; draws are uniform among them.
TEST(Constraint, CountsListsAndDrawsTheAllowedStates) {
  const int dim = 6;
  for (const std::string text : {"sum=2", "sum=1..4", "sum=0..1", "parity=even", "parity=odd",
                                 "one-hot=0-2,3-5", "one-hot=1-3", "one-hot=0-1,4-5"}) {
    SCOPED_TRACE(text);
    const Constraint c = Constraint::parse(text, dim);
    std::map<std::vector<Symbol>, int> seen;
    for (int s = 0; s < 1 << dim; ++s) {
      std::vector<Symbol> x;
      for (int i = dim; i-- > 0;) x.push_back(static_cast<Symbol>(s >> i & 1));
      EXPECT_EQ(c.allows(x.data()), c.violation(x.data()).empty());
      if (c.allows(x.data())) seen[x] = 0;
    }
    EXPECT_EQ(c.count(100), seen.size());
    EXPECT_FALSE(c.count(seen.size() - 1));
    EXPECT_NEAR(c.log_count(), std::log(static_cast<double>(seen.size())), 1e-12);
    std::vector<Symbol> x(dim);
    c.first(x.data());
    for (auto& [state, count] : seen) {
      EXPECT_EQ(x, state);
      EXPECT_EQ(c.next(x.data()), state != seen.rbegin()->first);
    }
    const int draws = 400 * static_cast<int>(seen.size());
    for (int d = 0; d < draws; ++d) {
      c.draw(Stream(7, static_cast<std::uint32_t>(d), 0, Purpose::start), x.data());
      ASSERT_TRUE(seen.contains(x));
      ++seen[x];
    }
    double chi_square = 0;
    for (const auto& [state, count] : seen) chi_square += (count - 400) * (count - 400) / 400.0;
    const auto degrees = static_cast<double>(seen.size() - 1);
    EXPECT_LT(chi_square, degrees + 5 * std::sqrt(2 * degrees)) << "of " << degrees;
  }
}

// What is left of a constraint allows exactly the states that agree with what is given.
TEST(Constraint, LeavesARestWhereCoordinatesAreGiven) {
  const auto rest = [](const std::string& text, const std::vector<int>& level) {
    return Constraint::parse(text, static_cast<int>(level.size())).given(level).text();
  };
  EXPECT_EQ(rest("sum=3", {-1, -1, 1, -1, 0, -1}), "sum=2");
  EXPECT_EQ(rest("sum=1..5", {-1, -1, 1, 1, 0, -1}), "sum=0..3");
  EXPECT_EQ(rest("parity=even", {-1, 1, -1}), "parity=odd");
  EXPECT_EQ(rest("parity=odd", {-1, 0, -1, -1}), "parity=odd");
  EXPECT_EQ(rest("one-hot=0-2,3-5", {0, -1, -1, -1, -1, -1}), "one-hot=0-1,2-4");
  EXPECT_EQ(rest("one-hot=0-2,3-5", {0, 1, 0, -1, -1, -1}), "one-hot=0-2");
  EXPECT_THROW(rest("sum=1", {1, 1, -1}), UsageError);
  EXPECT_THROW(rest("sum=3", {0, 0, -1, -1}), UsageError);
  EXPECT_THROW(rest("sum=2", {1, 1, -1, -1}), UsageError);  // a single state
  EXPECT_THROW(rest("one-hot=0-1,2-3", {1, 1, -1, -1}), UsageError);
  EXPECT_THROW(rest("one-hot=0-1,2-3", {1, -1, -1, -1}), UsageError);
  EXPECT_THROW(rest("one-hot=0-1,2-3", {0, 0, -1, -1}), UsageError);
  EXPECT_THROW(rest("parity=odd", {0, 1}), UsageError);
}

}  // namespace
}  // namespace saltus
