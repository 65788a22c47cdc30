// Flips that keep the number of ones in a range, at most some of them each way: m_on of the ones go
// and m_off others come. Elementary symmetric functions of the weights on either side give the law
// of (m_on, m_off), and then of the two sets.
#pragma once

#include "sampler/constrained/conditional_flips.hpp"

namespace saltus {

inline constexpr double kMostLogWeight = 300;

class SumFlips final : public ConditionalFlips {
 public:
  SumFlips(int low, int high, int most) : low_(low), high_(high), most_(most) {}

  double condition(const Symbol* x, std::span<double> l, Scratch& room) const override;
  int draw(const Symbol* x, std::span<const double> l, const Stream& stream, Scratch& room,
           std::int32_t* flips) const override;
  double log_weight(const Symbol* x, std::span<const double> l, std::span<const std::int32_t> flips,
                    Scratch& room) const override;

 private:
  // What `condition` leaves in the scratch.
  struct Sides {
    std::span<std::int32_t> on, off;  // sites
    std::span<double> on_weights, off_weights;
    std::span<double> on_sums, off_sums, room;  // e_0 ... e_most, and as much again
  };
  Sides sides(const Symbol* x, std::size_t dim, Scratch& room) const;
  // Calls visit(m_on, m_off, weight) for all numbers that are possible, until it returns false.
  template <class Visit>
  void each(const Sides& s, const Visit& visit) const;

  int low_, high_, most_;
};

}  // namespace saltus
