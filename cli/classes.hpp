// Class probabilities of unordered levels, for tables and JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/domain.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus::cli {

// The classes of some coordinates, one after the other: entry k of every list belongs to one class.
struct ClassColumns {
  std::vector<double> coordinate, level, probability, mcse, ess, rhat;
  std::vector<double> exact;  // empty where no exact answer is known

  void add(int number, const CoordinateSummary& summary);
  // Exact probabilities of the classes added so far.
  void add_exact(const Domain& domain, const ExactAnswer& answer);

  // An object with the lists, and what show_json puts into their places.
  Json json() const;
  void put_into(LongLists& lists) const;
  // Lines of a table, with the name of a coordinate beside its first class.
  void show(const std::vector<int>& shape, const Labels& labels) const;
};

// Those of the coordinates `order`, from its beginning, whose classes make a table of readable
// length; one at least.
std::vector<std::size_t> readable(const Summaries& all, std::vector<std::size_t> order);

// Which classes of a coordinate are listed, where not all are; otherwise empty.
std::string which_classes(const DrawsInfo& info, const Summaries& all);

}  // namespace saltus::cli
