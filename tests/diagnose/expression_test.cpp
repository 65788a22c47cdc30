// Expressions of users: their values, and what is said of texts that are none.
#include "saltus/diagnose/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

const ExpressionSpace kSpins = {6, {2, 3}, -1, 2};
constexpr Symbol kLevels[] = {0, 1, 1, 0, 1, 1};  // x = -1 1 1 -1 1 1
constexpr double kLogp = -2.5;

double value(const std::string& text, const ExpressionSpace& space = kSpins) {
  Expression::Room room;
  const Expression expression(text, space);
  const double first = expression.value(kLevels, kLogp, room);
  EXPECT_EQ(expression.value(kLevels, kLogp, room), first) << text;  // the room is used again
  return first;
}

std::string refusal(const std::string& text) {
  try {
    const Expression expression(text, kSpins);
  } catch (const UsageError& e) {
    return e.what();
  }
  ADD_FAILURE() << "not refused: " << text;
  return "";
}

TEST(Expression, HasTheValueOfItsArithmetic) {
  EXPECT_EQ(value("2 + 3*4"), 14);
  EXPECT_EQ(value("(2+3)*4"), 20);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("24/4/3"), 2);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("--3"), 3);
  EXPECT_EQ(value("1e3 + .5"), 1000.5);
  EXPECT_EQ(value("1/0"), INFINITY);
  EXPECT_EQ(value("logp * 2"), -5);
}

TEST(Expression, HasTheValuesOfCoordinates) {
  EXPECT_EQ(value("sum(x)"), 2);
  EXPECT_EQ(value("mean(x)"), 2.0 / 6);
  EXPECT_EQ(value("m2 = mean(x)^2"), 4.0 / 36);
  EXPECT_EQ(value("x[0]"), -1);
  EXPECT_EQ(value("x[0]*x[1]"), -1);
  EXPECT_EQ(value("x[1,2]"), 1);
  EXPECT_EQ(value("x[1,0]"), -1);
  EXPECT_EQ(value("level[1,0]"), 0);
  EXPECT_EQ(value("sum(x[0:4])"), 0);
  EXPECT_EQ(value("sum(x[1:])"), 3);
  EXPECT_EQ(value("sum(x[:1])"), -1);
  EXPECT_EQ(value("sum(level)"), 4);
  EXPECT_EQ(value("sum(x[0:3]*x[3:6])"), 3);
  EXPECT_EQ(value("abs(sum(x) - 5)"), 3);
  EXPECT_EQ(value("sum(abs(x))"), 6);
  EXPECT_EQ(value("min(x)"), -1);
  EXPECT_EQ(value("max(x)"), 1);
  EXPECT_EQ(value("min(3, sum(x), 7)"), 2);
  EXPECT_EQ(value("sum(max(x, 0))"), 4);
  EXPECT_EQ(value("sum(2 - x)"), 10);  // a number meets a list from the left, too
}

TEST(Expression, Compares) {
  EXPECT_EQ(value("count(x == 1)"), 4);
  EXPECT_EQ(value("count(x==-1)"), 2);
  EXPECT_EQ(value("mean(level != 1)"), 2.0 / 6);
  EXPECT_EQ(value("mean(x) > 0.5"), 0);
  EXPECT_EQ(value("mean(x) <= 0.5"), 1);
  EXPECT_EQ(value("x[0] < x[1]"), 1);
  EXPECT_EQ(value("x[0] >= x[1]"), 0);
  EXPECT_EQ(value("x[1] == x[2]"), 1);
}

TEST(Expression, HasAName) {
  EXPECT_EQ(Expression("m2 = mean(x)^2", kSpins).name(), "m2");
  EXPECT_EQ(Expression("mean(x)^2", kSpins).name(), "mean(x)^2");
  EXPECT_EQ(Expression("x = x[0]", kSpins).name(), "x");
  EXPECT_THROW(parse_expressions({"a=x[0]", "a=x[1]"}, kSpins), UsageError);
  EXPECT_EQ(parse_expressions({"a=x[0]", "b=x[1]"}, kSpins).size(), 2u);
}

TEST(Expression, RefusalsNameThePlaceAndWhatWasExpected) {
  struct Case {
    const char *text, *part, *more;
  };
  for (const auto& [text, part, more] : {
           Case{"", "character 1,", "the text ends"},
           {"mean(x)^", "character 9,", "expected a number"},
           {"m = ", "character 5,", "expected a number"},
           {"mean x", "character 6,", "expected '('"},
           {"mean(x", "character 7,", "expected ')'"},
           {"mean()", "character 6,", "expected a number"},
           {"average(x)", "character 1,", "'average'"},
           {"1 2", "character 3,", "expected an operator or the end"},
           {"x[0] = 1", "character 6,", "'=='"},
           {"x[6]", "character 3,", "expected 0 to 5"},
           {"x[2,0]", "character 3,", "expected 0 to 1"},
           {"x[0,0,0]", "character 3,", "3 numbers"},
           {"x[-1]", "character 3,", "number of a coordinate"},
           {"x[0.5]", "character 4,", "']', ',' or ':'"},
           {"x[99999999999]", "character 3,", "too large"},
           {"sum(x[4:9])", "character 7,", "FIRST < END <= 6"},
           {"sum(x[3:3])", "character 7,", "FIRST < END <= 6"},
           {"sum(x[0:2]+x[0:3])", "character 11,", "a list of 2 numbers meets one of 3"},
           {"x", "a list of 6 numbers", "mean()"},
           {"min(1,)", "character 7,", "expected a number"},
           {"sum(x, 1)", "character 6,", "expected ')'"},
           {"1e999", "character 1,", "too large or small"},
           {"2 * \u00e9", "character 5,", "'\u00e9'"},
       }) {
    const std::string why = refusal(text);
    EXPECT_NE(why.find(part), std::string::npos) << text << ": " << why;
    EXPECT_NE(why.find(more), std::string::npos) << text << ": " << why;
  }
}

TEST(Expression, BoundsItsRecursionAndLength) {
  const auto repeated = [](const std::string& word, int times) {
    std::string text;
    for (int k = 0; k < times; ++k) text += word;
    return text;
  };
  EXPECT_EQ(value(repeated("(", 40) + "1" + repeated(")", 40)), 1);
  for (const char* word : {"(", "-", "2^", "abs("}) {
    EXPECT_NE(refusal(repeated(word, 1000) + "1").find("deep"), std::string::npos) << word;
  }
  EXPECT_EQ(value("0" + repeated("+1", 2000)), 2000);  // long, but flat
  EXPECT_NE(refusal("0" + repeated("+1", 3000)).find("longer"), std::string::npos);
}

TEST(Expression, AShapeThatDoesNotFitIsFlat) {
  const ExpressionSpace space = {6, {100, 100}, 0, 1};
  EXPECT_EQ(value("x[5]", space), 1);
  EXPECT_THROW(Expression("x[5,5]", space), UsageError);
}

}  // namespace
}  // namespace saltus
