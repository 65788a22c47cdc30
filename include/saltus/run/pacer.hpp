// When a long piece of work saves itself, and when it stops: one rule for sampling, annealing and
// learning.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "saltus/core/stopwatch.hpp"

namespace saltus {

// Where work is saved, what it continues and how long it may take: a part of every request that
// may take long.
struct Saving {
  // Files; empty: none. What is resumed is saved there again, unless another file is named.
  std::string checkpoint, resume;
  double checkpoint_every = 10;  // seconds
  double time_limit = 0;         // seconds after which it stops; 0: none
  bool overwrite = false;        // replace what an earlier run left beside `checkpoint`
};

class Pacer {
 public:
  // `save` may be empty: then nothing is saved. time_limit 0: none.
  Pacer(double save_every, double time_limit, std::function<void()> save)
      : save_every_(save_every), time_limit_(time_limit), save_(std::move(save)) {}

  // To be called between two pieces of work. Saves when that is due; false when time is up.
  bool next() {
    const double now = seconds();
    // A slow disk must not eat the run: at most a tenth of the time goes into saving.
    if (save_ && now - saved_at_ >= std::max(save_every_, 9 * save_seconds_)) {
      save_();
      saved_at_ = seconds();
      save_seconds_ = saved_at_ - now;
    }
    return time_limit_ <= 0 || seconds() < time_limit_;
  }
  double seconds() const { return watch_.seconds(); }  // since it was made

 private:
  Stopwatch watch_;
  double save_every_, time_limit_;
  std::function<void()> save_;
  double saved_at_ = 0, save_seconds_ = 0;
};

}  // namespace saltus
