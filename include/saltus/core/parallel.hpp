// A few threads that share out independent tasks. Which thread takes which task never matters for
// the result: randomness belongs to the chain, not to the thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace saltus {

// As many threads as have something to do; `threads` 0: as many as the machine has cores.
int useful_threads(int threads, int tasks);

// Processor time that the process has used, over all its threads, in seconds. Unlike the clock it
// stands still while other programs have the processor.
double processor_seconds();

class ThreadPool {
 public:
  // 0 threads: as many as the machine has cores.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls work(task, thread) for every task, the calling thread included, and returns when all are
  // done. The first exception is thrown again here.
  void for_each(int tasks, const std::function<void(int task, int thread)>& work);

 private:
  void worker(int thread);
  void take_tasks(int thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, done_;
  std::uint64_t round_ = 0;
  int busy_ = 0;
  bool stop_ = false;
  const std::function<void(int, int)>* work_ = nullptr;
  int tasks_ = 0;
  std::atomic<int> next_{0};
  std::exception_ptr error_;
};

}  // namespace saltus
