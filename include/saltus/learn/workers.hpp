// Who computes a list of tasks of learning: the threads of this process and, where a team shares
// the work, each member a range of the tasks. A task makes the same bits whoever computes it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/core/parallel.hpp"
#include "saltus/run/team.hpp"

namespace saltus {

class Workers {
 public:
  Workers(ThreadPool& pool, Team* team = nullptr) : pool_(pool), team_(team) {}

  int threads() const { return pool_.threads(); }

  // Calls work(task, thread) for the tasks of this member.
  void for_each(int tasks, const std::function<void(int task, int thread)>& work) const {
    if (!team_) return pool_.for_each(tasks, work);
    const int first = first_of(team_->rank(), tasks), end = first_of(team_->rank() + 1, tasks);
    pool_.for_each(end - first, [&](int task, int thread) { work(first + task, thread); });
  }

  // After for_each: gives all members the rows that the tasks have made. rows_before(task) is the
  // number of rows that earlier tasks make; rows_before(tasks) all of them.
  template <class T, class F>
  void exchange(std::span<T> rows, int tasks, const F& rows_before) const {
    if (!team_) return;
    std::vector<int> counts;
    for (int m = 0; m < team_->size(); ++m) {
      counts.push_back(rows_before(first_of(m + 1, tasks)) - rows_before(first_of(m, tasks)));
    }
    team_->exchange(std::as_writable_bytes(rows), counts);
  }

 private:
  int first_of(int member, int tasks) const {
    return static_cast<int>(std::int64_t{tasks} * member / team_->size());
  }

  ThreadPool& pool_;
  Team* team_;
};

}  // namespace saltus
