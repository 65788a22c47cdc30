#include "diagnose/columns/plain_rhat.hpp"

#include <cmath>

namespace saltus {

double plain_rhat(const SequenceMoments& moments, std::size_t length) {
  const double n = static_cast<double>(length);
  const double within = moments.squares / (static_cast<double>(moments.means.size()) * (n - 1));
  const double between = sample_variance(moments.means);
  // 0/0 is NaN and a positive number over 0 infinity, as wanted.
  return std::sqrt(((n - 1) / n * within + between) / within);
}

}  // namespace saltus
