#include "saltus/temper/travels.hpp"

#include <numeric>
#include <utility>

namespace saltus {

void Travels::start(int slots) {
  replica_of_slot.resize(static_cast<std::size_t>(slots));
  std::iota(replica_of_slot.begin(), replica_of_slot.end(), std::uint16_t{0});
  seen.assign(replica_of_slot.size(), nothing);
  restarts = round_trips = 0;
}

void Travels::scan(std::span<const std::uint8_t> swapped) {
  std::uint8_t& at_base = seen[replica_of_slot.front()];
  round_trips += at_base == model;
  at_base = base;
  std::uint8_t& at_model = seen[replica_of_slot.back()];
  restarts += at_model == base;
  if (at_model == base) at_model = model;
  for (std::size_t k = 0; k < swapped.size(); ++k) {
    if (swapped[k]) std::swap(replica_of_slot[k], replica_of_slot[k + 1]);
  }
}

}  // namespace saltus
