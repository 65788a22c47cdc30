#include "sampler/constrained/elementary.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace saltus {
namespace {

constexpr double kLarge = 0x1p300;  // a weight of e^300 later it is still finite

// next = e of one weight more.
void add_weight(double weight, const double* __restrict now, double* __restrict next,
                std::size_t top) {
  next[0] = now[0];
  for (std::size_t t = 1; t <= top; ++t) next[t] = now[t] + weight * now[t - 1];
}

// Divides by a power of two, so that the largest lies in [1/2, 1), and returns the exponent.
int normalise(double* e, std::size_t count) {
  int exponent = 0;
  std::frexp(*std::max_element(e, e + count), &exponent);
  const double factor = std::ldexp(1.0, -exponent);
  for (std::size_t t = 0; t < count; ++t) e[t] *= factor;
  return exponent;
}

}  // namespace

int elementary(std::span<const double> a, std::span<double> e, std::span<double> room) {
  std::ranges::fill(e, 0.0);
  std::ranges::fill(room, 0.0);
  double *now = e.data(), *next = room.data();
  now[0] = 1;
  int exponent = 0;
  double bound = 1;  // of the sum of all
  for (std::size_t s = 0; s < a.size(); ++s) {
    add_weight(a[s], now, next, std::min(s + 1, e.size() - 1));
    std::swap(now, next);
    bound *= 1 + a[s];
    if (bound < kLarge) continue;
    exponent += normalise(now, e.size());
    bound = static_cast<double>(e.size());
  }
  exponent += normalise(now, e.size());
  if (now != e.data()) std::ranges::copy(room, e.begin());
  return exponent;
}

ElementaryTable::ElementaryTable(std::span<const double> a, int m, double* table, int* exponents)
    : a_(a), m_(m), table_(table), exponents_(exponents) {
  const auto width = static_cast<std::size_t>(m + 1);
  std::fill_n(row(0), width, 0.0);
  row(0)[0] = 1;
  exponents_[0] = 0;
  double bound = 1;
  for (std::size_t s = 0; s < a.size(); ++s) {
    add_weight(a[s], row(s), row(s + 1), width - 1);
    exponents_[s + 1] = exponents_[s];
    bound *= 1 + a[s];
    if (bound < kLarge) continue;
    exponents_[s + 1] += normalise(row(s + 1), width);
    bound = static_cast<double>(width);
  }
}

// The last place of the set is s with a_s e_{t-1}(before s) of e_t(up to s): from the last on, what
// a uniform part of e_t has passed is taken from it.
void ElementaryTable::draw(const std::function<double()>& uniform, std::int32_t* places) const {
  auto left = static_cast<std::size_t>(m_), s = a_.size();
  while (left > 0) {
    double part = uniform() * row(s)[left];
    for (;; --s) {
      const int shift = exponents_[s - 1] - exponents_[s];
      double here = a_[s - 1] * row(s - 1)[left - 1];
      if (shift != 0) here = std::ldexp(here, shift);
      if (part < here || s == left) break;
      part -= here;
      if (shift != 0) part = std::ldexp(part, -shift);
    }
    *places++ = static_cast<std::int32_t>(--s);
    --left;
  }
}

}  // namespace saltus
