#include "saltus/core/parallel.hpp"

#include <time.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace saltus {

int useful_threads(int threads, int tasks) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(threads, 1, std::max(1, tasks));
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  try {
    for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { worker(t); });
  } catch (const std::system_error&) {
    // The system gives no more threads: those that there are do the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& w : workers_) w.join();
}

void ThreadPool::take_tasks(int thread) {
  try {
    for (int task = next_++; task < tasks_; task = next_++) (*work_)(task, thread);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void ThreadPool::worker(int thread) {
  std::uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_tasks(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::for_each(int tasks, const std::function<void(int, int)>& work) {
  if (workers_.empty() || tasks == 1) {
    for (int task = 0; task < tasks; ++task) work(task, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    tasks_ = tasks;
    next_ = 0;
    busy_ = static_cast<int>(workers_.size());
    ++round_;
  }
  begin_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace saltus
