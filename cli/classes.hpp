// Class probabilities of unordered levels, for tables.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/domain.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus::cli {

struct ClassColumns : ClassLists {
  // Lines of a table, with the name of a coordinate beside its first class.
  void show(const std::vector<int>& shape, const Labels& labels) const;
};

// Those of the coordinates `order`, from its beginning, whose classes make a table of readable
// length; one at least.
std::vector<std::size_t> readable(const Summaries& all, std::vector<std::size_t> order);

// Which classes of a coordinate are listed, where not all are; otherwise empty.
std::string which_classes(const DrawsInfo& info, const Summaries& all);

}  // namespace saltus::cli
