// The processes that share one run, each with a range of its chains. They make the same rounds; one
// of them, the leader, has the clock, the terminal and the files.
//
// A run in a team gives the bits that it gives in one process: what the members compute depends on
// the names of their chains alone, what they share is put together in the order of the chains, and
// at the end the leader has the whole run (saved_by_all, restored into a run of all chains).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/run/recorder.hpp"
#include "saltus/run/reduction.hpp"

namespace saltus {

// All members make the same calls in the same order.
class Team : public Reduction {
 public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool leads() const { return rank() == 0; }

  // The bytes of all members, in their order, for the leader; nothing for the others.
  virtual std::vector<std::vector<std::byte>> collect(std::span<const std::byte> mine) = 0;
  // The leader's bytes, for all.
  virtual std::vector<std::byte> share(std::span<const std::byte> of_leader) = 0;
  std::uint64_t share_value(std::uint64_t of_leader);
  // Completes an array of units of one size: counts[m] of them, in the order of the members, are
  // what member m has made. Afterwards all members have all of it.
  virtual void exchange(std::span<std::byte> units, std::span<const int> counts) = 0;
  // A team of the first members of this one; null for those that are not among them.
  virtual std::unique_ptr<Team> first(int members) = 0;
};

using SavePart = std::function<void(ByteWriter&)>;

// Between two rounds: whether to go on, which `leader_says`. The other members wait for its word
// and meanwhile help it to save, by `save`. Without a team this is leader_says().
bool agree(Team* team, const std::function<bool()>& leader_says, const SavePart& save);

// What one process would save, for the leader; the other members get nothing. The leader calls
// saved_by_all within agree's `leader_says`; elsewhere all members call saved_together.
std::vector<std::byte> saved_by_all(Team* team, const SavePart& save);
std::vector<std::byte> saved_together(Team* team, const SavePart& save);

// The range of a member, of chains that are divided by chain_ranges; and the team of those members
// that have one. A member without a range has no team.
struct Membership {
  std::unique_ptr<Team> team;
  ChainRange range = {0, 0};
};
Membership join_team(Team& team, std::vector<ChainRange> ranges);

// Recorders that bring the draws of all members to the leader, round by round: the leader's passes
// draws on to `sink`, which is a recorder of all chains, and the others send theirs.
std::unique_ptr<Recorder> receiving_recorder(Team& team, Recorder& sink, const Domain& domain,
                                             int chains_of_leader, std::vector<int> coordinates);
std::unique_ptr<Recorder> sending_recorder(Team& team, const Domain& domain, int chains,
                                           std::vector<int> coordinates);

}  // namespace saltus
