#include "saltus/run/pacer.hpp"

#include <algorithm>

namespace saltus {

bool Pacer::next() {
  const double now = seconds();
  // A slow disk must not eat the run: at most a tenth of the time goes into saving.
  if (save_ && now - saved_at_ >= std::max(save_every_, 9 * save_seconds_)) {
    save_();
    saved_at_ = seconds();
    save_seconds_ = saved_at_ - now;
  }
  return time_limit_ <= 0 || seconds() < time_limit_;
}

}  // namespace saltus
