// The two values of binary data: 0 and 1, or -1 and +1. A file has the one or the other.
#pragma once

#include <optional>

#include "saltus/core/rows.hpp"

namespace saltus {

class TwoValues {
 public:
  // The level that a number stands for; none when it is neither, or belongs to the other pair.
  std::optional<Symbol> level(double number) {
    if (number == 1) return Symbol{1};
    if (number != 0 && number != -1) return std::nullopt;
    if (low_ && *low_ != number) return std::nullopt;
    low_ = number;
    return Symbol{0};
  }
  // What a refusal says was expected.
  const char* expected() const { return low_ && *low_ == -1 ? "-1 or 1" : "0 or 1"; }

 private:
  std::optional<double> low_;  // the lower value, once it was seen
};

}  // namespace saltus
