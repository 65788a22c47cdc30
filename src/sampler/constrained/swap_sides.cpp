#include "sampler/constrained/swap_sides.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw_place.hpp"

namespace saltus {
namespace {

constexpr double kTiny = 0x1p-900;  // of a sum of weights: the next largest becomes 1

}  // namespace

ListedSides::ListedSides(const Symbol* x, std::span<const double> log_weights, Scratch& room)
    : x_(x),
      log_weights_(log_weights),
      sites_(room.get<std::int32_t>(2, log_weights.size())),
      weights_(room.get<double>(1, log_weights.size())) {}

void ListedSides::begin(Side side) {
  left_ = 0;
  for (std::size_t i = 0; i < log_weights_.size(); ++i) {
    if (!side || x_[i] == *side) sites_[left_++] = static_cast<std::int32_t>(i);
  }
  weigh();
}

void ListedSides::weigh() {
  top_ = -INFINITY;
  for (std::size_t k = 0; k < left_; ++k) top_ = std::max(top_, log_weight(k));
  for (std::size_t k = 0; k < left_; ++k) weights_[k] = std::exp(log_weight(k) - top_);
}

double ListedSides::sum() const {
  double sum = 0;
  for (std::size_t k = 0; k < left_; ++k) sum += weights_[k];
  return sum;
}

double ListedSides::total() {
  const double now = sum();
  if (now > kTiny) return now;
  weigh();
  return sum();
}

std::int32_t ListedSides::draw(double u, double& log_q) {
  const double all = total();
  return remove(draw_place({weights_, left_}, u * all), all, log_q);
}

void ListedSides::take(std::int32_t site, double& log_q) {
  const double all = total();
  remove(static_cast<std::size_t>(std::find(sites_, sites_ + left_, site) - sites_), all, log_q);
}

std::int32_t ListedSides::remove(std::size_t place, double sum, double& log_q) {
  log_q += log_weight(place) - top_ - std::log(sum);
  const std::int32_t site = sites_[place];
  std::copy(sites_ + place + 1, sites_ + left_, sites_ + place);  // in order, as in trees
  std::copy(weights_ + place + 1, weights_ + left_, weights_ + place);
  --left_;
  return site;
}

}  // namespace saltus
