// One run in several parts, in threads of one process.
#pragma once

#include <barrier>
#include <span>
#include <vector>

#include "saltus/run/reduction.hpp"

namespace saltus {

class SharedParts {
 public:
  explicit SharedParts(int parts) : values_(static_cast<std::size_t>(parts)), barrier_(parts) {}

  class Part final : public Reduction {
   public:
    Part(SharedParts& shared, std::size_t number) : shared_(shared), number_(number) {}
    std::vector<double> gather(std::span<const double> mine) override {
      shared_.values_[number_].assign(mine.begin(), mine.end());
      shared_.barrier_.arrive_and_wait();
      std::vector<double> all;
      for (const auto& part : shared_.values_) all.insert(all.end(), part.begin(), part.end());
      shared_.barrier_.arrive_and_wait();
      return all;
    }

   private:
    SharedParts& shared_;
    std::size_t number_;
  };

 private:
  std::vector<std::vector<double>> values_;
  std::barrier<> barrier_;
};

}  // namespace saltus
