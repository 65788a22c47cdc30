#include "sampler/informed/level_weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "sampler/informed/balancing.hpp"

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double log_sum_exp(const double* a, int count) {
  double top = -kInfinity;
  for (int m = 0; m < count; ++m) {
    if (std::isnan(a[m])) return a[m];
    top = std::max(top, a[m]);
  }
  if (top == -kInfinity) return top;
  double sum = 0;
  for (int m = 0; m < count; ++m) sum += std::exp(a[m] - top);
  return top + std::log(sum);
}

template <Balancing balancing>
void two_level_sites(int dim, const Symbol* x, const float* score, double spacing, float* out) {
  for (int i = 0; i < dim; ++i) {
    const double d = double{score[i]} * (x[i] == 0 ? spacing : -spacing);
    out[i] = static_cast<float>(log_weight(balancing, d));
  }
}

}  // namespace

LevelWeights::Range LevelWeights::range(int i, int now) const {
  const int levels = domain_.levels(i);
  if (window_ == 0) return {0, levels};
  const int first = now > window_ ? now - window_ : 0;
  const int last = levels - 1 - now > window_ ? now + window_ : levels - 1;
  return {first, last - first + 1};
}

int LevelWeights::most_levels() const {
  const int levels = domain_.max_levels();
  return window_ > 0 && window_ < levels / 2 ? 2 * window_ + 1 : levels;
}

void LevelWeights::estimate(const Symbol* x, const float* score, int i, Range range,
                            double* out) const {
  if (domain_.kind() == Domain::Kind::categorical) {
    const float* of_level = score + domain_.score_begin(i);
    const double now = double{of_level[x[i]]};
    for (int m = 0; m < range.count; ++m) out[m] = double{of_level[range.first + m]} - now;
    return;
  }
  const double slope = double{score[i]} * domain_.spacing();
  for (int m = 0; m < range.count; ++m) out[m] = slope * (range.first + m - x[i]);
}

double LevelWeights::weigh(Range range, int now, double* differences) const {
  for (int m = 0; m < range.count; ++m) {
    differences[m] = range.first + m == now ? -kInfinity : log_weight(balancing_, differences[m]);
  }
  if (range.count == 2) return differences[now == range.first ? 1 : 0];
  return log_sum_exp(differences, range.count);
}

void LevelWeights::estimated_sites(const Symbol* x, const float* score, float* out,
                                   double* room) const {
  const int dim = domain_.dim();
  if (domain_.two_level()) {
    const double spacing = domain_.spacing();
    switch (balancing_) {
      case Balancing::sqrt:
        return two_level_sites<Balancing::sqrt>(dim, x, score, spacing, out);
      case Balancing::ratio:
        return two_level_sites<Balancing::ratio>(dim, x, score, spacing, out);
      case Balancing::min:
        return two_level_sites<Balancing::min>(dim, x, score, spacing, out);
      case Balancing::max:
        return two_level_sites<Balancing::max>(dim, x, score, spacing, out);
    }
  }
  for (int i = 0; i < dim; ++i) {
    const Range r = range(i, x[i]);
    estimate(x, score, i, r, room);
    out[i] = static_cast<float>(weigh(r, x[i], room));
  }
}

}  // namespace saltus
