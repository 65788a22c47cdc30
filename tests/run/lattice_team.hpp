// A team of threads of the host that stands for one of a GPU, for tests of what the kernels do.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

namespace saltus {

// Threads that exchange numbers as those of a GPU's blocks do, in warps of a few lanes.
template <int kLanes, int kBlocks_ = 1>
class ThreadTeam {
 public:
  static constexpr int kWarp = kLanes, kBlocks = kBlocks_;
  struct Memory {
    explicit Memory(int threads) : size(threads / kBlocks), all(threads) {
      for (int w = 0; w < threads / kLanes; ++w) of_warp.emplace_back(kLanes);
      for (auto* turns : {&values, &votes}) {
        for (auto& of_turn : *turns) of_turn.resize(static_cast<std::size_t>(threads));
      }
    }
    int size;  // of a block
    std::barrier<> all;
    std::deque<std::barrier<>> of_warp;
    std::array<std::vector<std::int64_t>, 2> values, votes;  // of a call and of the one before
    std::array<std::vector<std::int64_t>, std::size_t{kBlocks}>
        shared;  // what threads of a block share
  };
  ThreadTeam(Memory& memory, int thread) : memory_(memory), thread_(thread) {}
  int block() const { return thread_ / memory_.size; }
  int rank() const { return thread_ % memory_.size; }
  int size() const { return memory_.size; }
  int lane() const { return thread_ % kLanes; }
  int warp() const { return rank() / kLanes; }
  int warps() const { return size() / kLanes; }
  void sync() const { memory_.all.arrive_and_wait(); }
  void* shared() const { return memory_.shared[static_cast<std::size_t>(block())].data(); }

  std::uint32_t exchange(std::uint32_t v) const {
    return told<std::uint32_t>(v, [&] { return at(lane() ^ 1); });
  }
  std::uint32_t exchange_pairs(std::uint32_t v) const {
    return told<std::uint32_t>(v, [&] { return at(lane() ^ 2); });
  }
  std::uint32_t sum_of_warp(std::uint32_t v) const {
    return told<std::uint32_t>(v, [&] {
      std::int64_t sum = 0;
      for (int k = 0; k < kLanes; ++k) sum += at(k);
      return sum;
    });
  }
  std::uint32_t ballot(bool v) const {
    return told<std::uint32_t>(v, [&] {
      std::int64_t bits = 0;
      for (int k = 0; k < kLanes; ++k) bits |= at(k) << k;
      return bits;
    });
  }
  std::int64_t of_lane(std::int64_t v, int lane) const {
    return told<std::int64_t>(v, [&] { return at(lane); });
  }
  bool any(bool v, std::uint32_t*) const {
    std::vector<std::int64_t>& turn = memory_.votes[++votes_ % 2];
    turn[static_cast<std::size_t>(thread_)] = v;
    sync();
    bool found = false;
    for (const std::int64_t of : turn) found = found || of != 0;
    return found;
  }
  template <class T>
  void share(T* place, T v) const {
    const auto offset = reinterpret_cast<char*>(place) - static_cast<char*>(shared());
    for (auto& of_block : memory_.shared) {
      *reinterpret_cast<T*>(reinterpret_cast<char*>(of_block.data()) + offset) = v;
    }
  }

 private:
  // Numbers of one call and of the next are apart: then one barrier serves for each.
  std::vector<std::int64_t>& values() const { return memory_.values[calls_ % 2]; }
  void leave(std::int64_t mine) const {
    ++calls_;
    values()[static_cast<std::size_t>(thread_)] = mine;
  }
  std::int64_t at(int lane) const {
    return values()[static_cast<std::size_t>(thread_ / kLanes * kLanes + lane)];
  }
  // What `read` finds when all lanes of the warp have left their numbers.
  template <class T, class Read>
  T told(std::int64_t mine, const Read& read) const {
    leave(mine);
    memory_.of_warp[static_cast<std::size_t>(thread_ / kLanes)].arrive_and_wait();
    return static_cast<T>(read());
  }
  Memory& memory_;
  int thread_;
  mutable std::size_t calls_ = 0, votes_ = 0;
};

// body(team) by all of its threads.
template <class Team, class Body>
void with_threads(typename Team::Memory& memory, const Body& body) {
  std::vector<std::jthread> threads;
  for (int k = 0; k < static_cast<int>(memory.votes[0].size()); ++k) {
    threads.emplace_back([&, k] { body(Team(memory, k)); });
  }
}

}  // namespace saltus
