// Small targets of which some values are given, for exact tests.
#pragma once

#include <memory>
#include <vector>

#include "saltus/target/given.hpp"
#include "small_targets.hpp"

namespace saltus {

inline SmallTarget given_target(const SmallTarget& whole, std::vector<GivenValue> list) {
  return {"given_" + whole.name,
          [whole, list] {
            return std::unique_ptr<Target>(
                new Given(std::shared_ptr<const Target>(whole.make()), list));
          },
          whole.levels};
}

// Every small target, and those with forbidden states, with a coordinate in the middle given.
inline std::vector<SmallTarget> given_targets() {
  std::vector<SmallTarget> list;
  for (const auto& all : {small_targets(), forbidding_targets()}) {
    for (const SmallTarget& target : all) list.push_back(given_target(target, {{1, 0}}));
  }
  return list;
}

// One of each way in which samplers step: two levels with and without hidden units, ordered and
// unordered levels, given states of given states.
inline std::vector<SmallTarget> some_given_targets() {
  std::vector<SmallTarget> list;
  for (const SmallTarget& target : given_targets()) {
    for (const char* name : {"lattice", "curved", "rbm", "ordered", "potts", "equal_bits"}) {
      if (target.name == std::string("given_") + name) list.push_back(target);
    }
  }
  list.push_back({"given_twice", [] {
                    const auto once = given_target(small_targets()[2], {{3, 1}});  // dense_ising
                    return given_target(once, {{0, 1}}).make();
                  }});
  return list;
}

}  // namespace saltus
