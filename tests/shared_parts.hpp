// One run in several parts, in threads of one process.
#pragma once

#include <algorithm>
#include <barrier>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

#include "saltus/run/team.hpp"

namespace saltus {

class SharedParts {
 public:
  explicit SharedParts(int parts)
      : values_(static_cast<std::size_t>(parts)),
        bytes_(static_cast<std::size_t>(parts)),
        barrier_(parts) {}

  class Part final : public Team {
   public:
    Part(SharedParts& shared, std::size_t number) : shared_(shared), number_(number) {}
    int rank() const override { return static_cast<int>(number_); }
    int size() const override { return static_cast<int>(shared_.values_.size()); }

    std::vector<double> gather(std::span<const double> mine) override {
      shared_.values_[number_].assign(mine.begin(), mine.end());
      shared_.barrier_.arrive_and_wait();
      std::vector<double> all;
      for (const auto& part : shared_.values_) all.insert(all.end(), part.begin(), part.end());
      shared_.barrier_.arrive_and_wait();
      return all;
    }
    std::vector<std::vector<std::byte>> collect(std::span<const std::byte> mine) override {
      shared_.bytes_[number_].assign(mine.begin(), mine.end());
      shared_.barrier_.arrive_and_wait();
      std::vector<std::vector<std::byte>> all;
      if (leads()) all = shared_.bytes_;
      shared_.barrier_.arrive_and_wait();
      return all;
    }
    std::vector<std::byte> share(std::span<const std::byte> of_leader) override {
      if (leads()) shared_.bytes_[0].assign(of_leader.begin(), of_leader.end());
      shared_.barrier_.arrive_and_wait();
      std::vector<std::byte> bytes = shared_.bytes_[0];
      shared_.barrier_.arrive_and_wait();
      return bytes;
    }
    void exchange(std::span<std::byte> units, std::span<const int> counts) override {
      const auto sum = [&](std::size_t members) {
        return std::accumulate(counts.begin(), counts.begin() + static_cast<long>(members), 0);
      };
      if (sum(counts.size()) == 0) return;
      const std::size_t size = units.size() / static_cast<std::size_t>(sum(counts.size()));
      const auto of = [&](std::size_t member) {
        return units.subspan(static_cast<std::size_t>(sum(member)) * size,
                             static_cast<std::size_t>(counts[member]) * size);
      };
      shared_.bytes_[number_].assign(of(number_).begin(), of(number_).end());
      shared_.barrier_.arrive_and_wait();
      for (std::size_t m = 0; m < counts.size(); ++m) {
        std::ranges::copy(shared_.bytes_[m], of(m).begin());
      }
      shared_.barrier_.arrive_and_wait();
    }
    std::unique_ptr<Team> first(int members) override {
      if (leads()) shared_.fewer_ = std::make_unique<SharedParts>(members);
      shared_.barrier_.arrive_and_wait();
      return rank() < members ? std::make_unique<Part>(*shared_.fewer_, number_) : nullptr;
    }

   private:
    SharedParts& shared_;
    std::size_t number_;
  };

  // Calls work(team) for every member, in a thread each.
  template <class Work>
  static void run(int members, const Work& work) {
    SharedParts shared(members);
    std::vector<std::jthread> threads;
    for (int m = 0; m < members; ++m) {
      threads.emplace_back([&, m] {
        Part part(shared, static_cast<std::size_t>(m));
        work(part);
      });
    }
  }

 private:
  std::vector<std::vector<double>> values_;
  std::vector<std::vector<std::byte>> bytes_;
  std::barrier<> barrier_;
  std::unique_ptr<SharedParts> fewer_;
};

}  // namespace saltus
