#include "io/problems/problem_writers.hpp"

#include <fmt/format.h>

#include "saltus/core/error.hpp"

namespace saltus {

void LeavingOut::refuse(const std::string& why) const {
  throw DataError(path_.string() + ": " + why);
}

void LeavingOut::constant(double energy) {
  if (!writing_.drop_constant) {
    refuse(fmt::format(
        "the format has no place for the constant of the energy, {}; it can be left out "
        "(--drop-constant)",
        energy));
  }
  done_.push_back(fmt::format("The constant {} of the energy was left out.", energy));
}

void LeavingOut::coordinates(Labels& labels) {
  if (labels.coordinates.empty()) return;
  if (!writing_.drop_labels) {
    refuse("the format has no place for labels such as " +
           labels.coordinates.front().substr(0, 40) + "; they can be left out (--drop-labels)");
  }
  done_.emplace_back("The labels of the variables were left out.");
  labels.coordinates.clear();
}

void LeavingOut::levels(Labels& labels) {
  if (labels.levels.empty()) return;
  if (!writing_.drop_labels) {
    refuse("the format has no place for names of levels such as " +
           labels.levels.front().front().substr(0, 40) + "; they can be left out (--drop-labels)");
  }
  done_.emplace_back("The names of the levels were left out.");
  labels.levels.clear();
}

}  // namespace saltus
