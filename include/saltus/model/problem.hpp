// What a state means for the problem that a model was made from: a set of vertices, a colouring, an
// assignment. log p mixes the number that is to be large with penalties; these are told apart here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

struct StateReport {
  std::string text;              // in words: "105 vertices, no edge among them"
  std::optional<bool> feasible;  // none: the problem allows every state
  std::vector<std::pair<std::string, double>> numbers;
};

class Problem {
 public:
  virtual ~Problem() = default;
  virtual std::string name() const = 0;
  virtual StateReport report(std::span<const Symbol> x) const = 0;

  // Where every state can be made feasible: changes x so, and returns how many coordinates that
  // took.
  virtual bool repairs() const { return false; }
  virtual int repair(std::span<Symbol>) const { return 0; }
  // What is to be large of a feasible state.
  virtual double value(std::span<const Symbol>) const { return 0; }
};

}  // namespace saltus
