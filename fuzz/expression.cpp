// Any bytes as a user's observable: refused with a UsageError, or it has a value for every state,
// the same one each time.
#include <cmath>
#include <cstdlib>
#include <string>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static const saltus::ExpressionSpace spaces[] = {{12, {3, 4}, -1, 2}, {1, {}, 0, 1}};
  static const saltus::Symbol levels[12] = {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0};
  for (const saltus::ExpressionSpace& space : spaces) {
    try {
      const saltus::Expression expression(text, space);
      saltus::Expression::Room room;
      const double first = expression.value(levels, -3.5, room);
      const double again = expression.value(levels, -3.5, room);
      if (!(first == again || (std::isnan(first) && std::isnan(again)))) std::abort();
    } catch (const saltus::UsageError&) {
    }
  }
  return 0;
}
