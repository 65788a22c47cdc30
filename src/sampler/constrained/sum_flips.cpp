#include "sampler/constrained/sum_flips.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sampler/constrained/elementary.hpp"

namespace saltus {

SumFlips::Sides SumFlips::sides(const Symbol* x, std::size_t dim, Scratch& room) const {
  const auto on = static_cast<std::size_t>(std::count(x, x + dim, Symbol{1}));
  const std::size_t sums = static_cast<std::size_t>(most_) + 1;
  double* weights = room.get<double>(1, dim);
  auto* sites = room.get<std::int32_t>(2, dim);
  double* e = room.get<double>(3, 3 * sums);
  return {{sites, on}, {sites + on, dim - on}, {weights, on},       {weights + on, dim - on},
          {e, sums},   {e + sums, sums},       {e + 2 * sums, sums}};
}

template <class Visit>
void SumFlips::each(const Sides& s, const Visit& visit) const {
  const int on = static_cast<int>(s.on.size()), off = static_cast<int>(s.off.size());
  for (int going = 0; going <= std::min(most_, on); ++going) {
    const int least = std::max(0, low_ - on + going);
    for (int coming = least; coming <= std::min({most_, off, high_ - on + going}); ++coming) {
      const double weight =
          s.on_sums[static_cast<std::size_t>(going)] * s.off_sums[static_cast<std::size_t>(coming)];
      if (!visit(going, coming, weight)) return;
    }
  }
}

double SumFlips::condition(const Symbol* x, std::span<double> l, Scratch& room) const {
  const Sides s = sides(x, l.size(), room);
  std::size_t on = 0, off = 0;
  double mean_on = 0, mean_off = 0;
  for (std::size_t i = 0; i < l.size(); ++i) {
    (x[i] ? s.on[on++] : s.off[off++]) = static_cast<std::int32_t>(i);
    (x[i] ? mean_on : mean_off) += l[i];
  }
  // As many come as go: what all that go gain and all that come lose changes nothing, and keeps the
  // weights near 1.
  const bool balanced = low_ == high_;
  const double shift =
      balanced ? (mean_off / static_cast<double>(off) - mean_on / static_cast<double>(on)) / 2 : 0;
  const auto weigh = [&](std::span<const std::int32_t> sites, double by, std::span<double> out) {
    for (std::size_t k = 0; k < sites.size(); ++k) {
      double& v = l[static_cast<std::size_t>(sites[k])];
      v = std::clamp(v + by, -kMostLogWeight, kMostLogWeight);
      out[k] = std::exp(v);
    }
  };
  weigh(s.on, shift, s.on_weights);
  weigh(s.off, -shift, s.off_weights);
  const int exponent =
      elementary(s.on_weights, s.on_sums, s.room) + elementary(s.off_weights, s.off_sums, s.room);
  double total = 0;
  each(s, [&](int, int, double weight) {
    total += weight;
    return true;
  });
  return std::log(total) + exponent * std::numbers::ln2;
}

int SumFlips::draw(const Symbol* x, std::span<const double> l, const Stream& stream, Scratch& room,
                   std::int32_t* flips) const {
  const Sides s = sides(x, l.size(), room);
  std::uint32_t number = 0;
  const auto uniform = [&] { return stream.uniform(number++); };
  double total = 0;
  const auto add = [&](int, int, double weight) { return total += weight, true; };
  each(s, add);
  double left = uniform() * total;
  int going = 0, coming = 0;
  each(s, [&](int on, int off, double weight) {
    if (!(weight > 0)) return true;
    going = on, coming = off;
    return (left -= weight) >= 0;
  });
  const auto choose = [&](std::span<const double> weights, std::span<const std::int32_t> sites,
                          int m) {
    if (m == 0) return;
    const ElementaryTable table(weights, m,
                                room.get<double>(4, ElementaryTable::entries(weights.size(), m)),
                                room.get<int>(5, weights.size() + 1));
    table.draw(uniform, flips);
    for (int k = 0; k < m; ++k, ++flips) *flips = sites[static_cast<std::size_t>(*flips)];
  };
  choose(s.on_weights, s.on, going);
  choose(s.off_weights, s.off, coming);
  return going + coming;
}

double SumFlips::log_weight(const Symbol* x, std::span<const double> l,
                            std::span<const std::int32_t> flips, Scratch& room) const {
  std::size_t going = 0;
  for (const std::int32_t i : flips) going += x[i];
  const std::size_t coming = flips.size() - going, most = static_cast<std::size_t>(most_);
  if (going > most || coming > most) return -INFINITY;
  const Sides s = sides(x, l.size(), room);
  if (!(s.on_sums[going] * s.off_sums[coming] > 0)) return -INFINITY;
  return ConditionalFlips::log_weight(x, l, flips, room);
}

}  // namespace saltus
