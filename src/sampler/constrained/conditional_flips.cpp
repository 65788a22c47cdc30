#include "sampler/constrained/conditional_flips.hpp"

#include <algorithm>
#include <cmath>

#include "core/scalar_math.hpp"
#include "sampler/constrained/sum_flips.hpp"

namespace saltus {
namespace {

void cut(std::span<double> l) {
  for (double& v : l) v = std::clamp(v, -kMostLogWeight, kMostLogWeight);
}

// An even number of flips. Slot 4 holds, for i = 0 ... n, the probabilities that independent flips
// of the coordinates from i on are even and odd in number.
class ParityFlips final : public ConditionalFlips {
 public:
  double condition(const Symbol*, std::span<double> l, Scratch& room) const override {
    cut(l);
    double* p = room.get<double>(4, 2 * (l.size() + 1));
    p[2 * l.size()] = 1, p[2 * l.size() + 1] = 0;
    double total = 0;
    for (std::size_t i = l.size(); i-- > 0;) {
      const double flip = sigmoid(l[i]), stay = sigmoid(-l[i]);
      p[2 * i] = stay * p[2 * i + 2] + flip * p[2 * i + 3];
      p[2 * i + 1] = stay * p[2 * i + 3] + flip * p[2 * i + 2];
      total += softplus(l[i]);
    }
    return total + std::log(p[0]);
  }

  int draw(const Symbol*, std::span<const double> l, const Stream& stream, Scratch& room,
           std::int32_t* flips) const override {
    const double* p = room.get<double>(4, 2 * (l.size() + 1));
    std::size_t odd = 0;  // whether the flips that are still to come are odd in number
    int count = 0;
    for (std::size_t i = 0; i < l.size(); ++i) {
      const double flip = sigmoid(l[i]) * p[2 * i + 2 + (1 - odd)],
                   stay = sigmoid(-l[i]) * p[2 * i + 2 + odd];
      if (!(stream.uniform(static_cast<std::uint32_t>(i)) * (flip + stay) < flip)) continue;
      flips[count++] = static_cast<std::int32_t>(i);
      odd = 1 - odd;
    }
    return count;
  }
};

// In each group the one stays or moves; coordinates outside of them flip on their own.
class OneHotFlips final : public ConditionalFlips {
 public:
  explicit OneHotFlips(const Constraint& constraint) : constraint_(constraint) {}

  double condition(const Symbol* x, std::span<double> l, Scratch&) const override {
    cut(l);
    double total = 0;
    for (const Constraint::Group& g : constraint_.groups()) {
      total += std::log(sum(x, l, g, one_of(x, g)));
    }
    for (const std::int32_t i : constraint_.free()) total += softplus(l[at(i)]);
    return total;
  }

  int draw(const Symbol* x, std::span<const double> l, const Stream& stream, Scratch&,
           std::int32_t* flips) const override {
    std::uint32_t number = 0;
    int count = 0;
    for (const Constraint::Group& g : constraint_.groups()) {
      const int one = one_of(x, g);
      double left = stream.uniform(number++) * sum(x, l, g, one) - 1;  // 1: it stays
      for (int j = g.first; left >= 0 && j <= g.last; ++j) {
        if (j == one || (left -= std::exp(l[at(one)] + l[at(j)])) >= 0) continue;
        flips[count++] = one;
        flips[count++] = j;
      }
    }
    for (const std::int32_t i : constraint_.free()) {
      if (stream.uniform(number++) < sigmoid(l[at(i)])) flips[count++] = i;
    }
    return count;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static int one_of(const Symbol* x, const Constraint::Group& g) {
    return static_cast<int>(std::find(x + g.first, x + g.last, Symbol{1}) - x);
  }
  static double sum(const Symbol*, std::span<const double> l, const Constraint::Group& g, int one) {
    double total = 1;
    for (int j = g.first; j <= g.last; ++j) {
      if (j != one) total += std::exp(l[at(one)] + l[at(j)]);
    }
    return total;
  }

  Constraint constraint_;
};

}  // namespace

double ConditionalFlips::log_weight(const Symbol*, std::span<const double> l,
                                    std::span<const std::int32_t> flips, Scratch&) const {
  double sum = 0;
  for (const std::int32_t i : flips) sum += l[static_cast<std::size_t>(i)];
  return sum;
}

int most_swaps(const Constraint& constraint, int most) {
  if (constraint.kind() != Constraint::Kind::sum) return 0;
  const int usual = most > 0 ? most : kMostSwaps;
  if (!constraint.fixed_sum()) return std::min(usual, constraint.dim());
  return std::min({usual, constraint.low(), constraint.dim() - constraint.low()});
}

std::unique_ptr<ConditionalFlips> conditional_flips(const Constraint& constraint, int most) {
  if (constraint.kind() == Constraint::Kind::parity) return std::make_unique<ParityFlips>();
  if (constraint.kind() == Constraint::Kind::one_hot) {
    return std::make_unique<OneHotFlips>(constraint);
  }
  return std::make_unique<SumFlips>(constraint.low(), constraint.high(),
                                    most_swaps(constraint, most));
}

}  // namespace saltus
