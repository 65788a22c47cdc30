// The travels of the replicas of one ensemble along a ladder: which are where, and how often they
// have come from the base to the model and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

struct Travels {
  std::vector<std::uint16_t> replica_of_slot;
  enum Seen : std::uint8_t { nothing, base, model };  // model: after the base
  std::vector<std::uint8_t> seen;                     // by replica
  std::uint64_t restarts = 0, round_trips = 0;

  // Replica k begins in slot k, and has seen nothing.
  void start(int slots);
  // Looks where everyone is, then exchanges the replicas of slots k and k + 1 where swapped[k].
  void scan(std::span<const std::uint8_t> swapped);
};

}  // namespace saltus
