// Quantities of a state that a user writes down, such as "mean(x)", "x[0]*x[1]" or
// "m2 = mean(x)^2". The grammar, where {} repeats and [] may be missing:
//
//   observable   [NAME "="] comparison
//   comparison   sum [("==" | "!=" | "<" | "<=" | ">" | ">=") sum]
//   sum          product {("+" | "-") product}
//   product      sign {("*" | "/") sign}
//   sign         "-" sign | power
//   power        atom ["^" sign]
//   atom         NUMBER | "(" comparison ")" | "logp" | ("x" | "level") [place]
//                | ("sum" | "mean" | "count" | "abs" | "min" | "max") "(" comparison {"," ...} ")"
//   place        "[" NUMBER {"," NUMBER} "]" | "[" [NUMBER] ":" [NUMBER] "]"
//
// x is the list of the coordinates' values (-1 and +1 for spins), level that of their indices.
// Arithmetic on a list goes entry by entry; sum, mean, count, min and max make one number of it.
#pragma once

#include <string>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

// What x and level are: level k of a coordinate stands for first_value + spacing k.
struct ExpressionSpace {
  int dim = 0;
  std::vector<int> shape = {};  // of the model, for places such as x[2,3]
  double first_value = 0, spacing = 1;
};

class Expression {
 public:
  // Throws UsageError, which names the place in the text and what was expected there.
  Expression(const std::string& text, const ExpressionSpace& space);

  // The name that the text gives, otherwise the text.
  const std::string& name() const { return name_; }

  // Memory for value(), one for each thread.
  using Room = std::vector<std::vector<double>>;
  double value(const Symbol* levels, double logp, Room& room) const;

 private:
  friend class ExpressionParser;
  enum class Op {
    number,
    logp,
    x,
    level,
    negate,
    abs,
    sum,
    mean,
    count,
    least,
    most,  // of one list or number
    add,
    subtract,
    multiply,
    divide,
    power,
    min,
    max,  // of two
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
  };
  // Operands come before their operation, so that evaluation needs no recursion.
  struct Step {
    Op op;
    double number = 0;
    int first = 0, count = 0;  // of x and level: the entries
  };

  std::string name_;
  ExpressionSpace space_;
  std::vector<Step> steps_;
};

// All of them. Throws UsageError, also where two have the same name.
std::vector<Expression> parse_expressions(const std::vector<std::string>& texts,
                                          const ExpressionSpace& space);

}  // namespace saltus
