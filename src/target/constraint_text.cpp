// Constraints as people write them.
#include <fmt/core.h>

#include "core/number_text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

constexpr const char* kForms =
    "sum=K, sum=LOW..HIGH, parity=even, parity=odd or one-hot=FIRST-LAST,...";

[[noreturn]] void refuse(const std::string& text) {
  throw UsageError("the constraint '" + text + "' is none of " + kForms);
}

// "a" or "a<between>b", whole numbers from 0 on.
std::optional<Constraint::Group> range_in(const std::string& word, const std::string& between) {
  const std::size_t middle = word.find(between);
  const auto first = number_in<int>(word.substr(0, middle));
  const auto last =
      middle == std::string::npos ? first : number_in<int>(word.substr(middle + between.size()));
  if (!first || !last || *first < 0 || *last < 0) return std::nullopt;
  return Constraint::Group{*first, *last};
}

}  // namespace

Constraint Constraint::parse(const std::string& text, int dim) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) refuse(text);
  const std::string kind = text.substr(0, equals), value = text.substr(equals + 1);
  if (kind == "sum") {
    const auto range = range_in(value, "..");
    if (!range) refuse(text);
    return sum(dim, range->first, range->last);
  }
  if (kind == "parity") {
    if (value != "even" && value != "odd") refuse(text);
    return parity(dim, value == "odd");
  }
  if (kind != "one-hot") refuse(text);
  std::vector<Group> groups;
  for (const std::string& word : split_list(value)) {
    const auto group = range_in(word, "-");
    if (!group) refuse(text);
    groups.push_back(*group);
  }
  return one_hot(dim, std::move(groups));
}

}  // namespace saltus
