// Measures how long a part of the work takes, by a clock that never goes back.
#pragma once

#include <chrono>
#include <utility>

namespace saltus {

class Stopwatch {
 public:
  double seconds() const { return since(start_, Clock::now()); }
  // Seconds since the last lap, or since the start.
  double lap() {
    const auto before = std::exchange(lap_, Clock::now());
    return since(before, lap_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }
  Clock::time_point start_ = Clock::now(), lap_ = start_;
};

}  // namespace saltus
