#include "saltus/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace saltus {
namespace {

TEST(ThreadPool, EveryTaskRunsOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> count(137);
    for (int round = 0; round < 20; ++round) {
      pool.for_each(137, [&](int task, int thread) {
        ASSERT_LT(thread, threads);
        ++count[static_cast<std::size_t>(task)];
      });
    }
    for (const auto& c : count) EXPECT_EQ(c, 20);
  }
}

TEST(ThreadPool, ExceptionsReachTheCaller) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.for_each(50,
                             [](int task, int) {
                               if (task == 17) throw std::runtime_error("seventeen");
                             }),
               std::runtime_error);
  int after = 0;
  pool.for_each(1, [&](int, int) { ++after; });
  EXPECT_EQ(after, 1);
}

}  // namespace
}  // namespace saltus
