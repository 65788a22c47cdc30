#include "reproduce/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saltus::reproduce {
namespace {

constexpr double kLevel = 0.05, kNormal95 = 1.959963984540054;

Verdict by_sign(double mean, Sign claimed) {
  return (mean < 0) == (claimed == Sign::negative) ? Verdict::agrees : Verdict::differs;
}

}  // namespace

std::optional<double> Measured::margin() const {
  if (!error || runs < 2) return std::nullopt;
  return student_t95(runs - 1) * *error;
}

Measured measured(std::span<const double> runs) {
  Measured m;
  const auto n = static_cast<double>(runs.size());
  m.runs = static_cast<int>(runs.size());
  for (const double v : runs) m.mean += v / n;
  if (runs.size() < 2) return m;
  for (const double v : runs) m.sd += (v - m.mean) * (v - m.mean) / (n - 1);
  m.sd = std::sqrt(m.sd);
  m.error = m.sd / std::sqrt(n);
  return m;
}

Verdict judge_number(const Measured& ours, const Printed& paper) {
  const std::optional<double> margin = ours.margin();
  if (!margin || !std::isfinite(ours.mean)) return Verdict::undecided;
  const double of_paper =
      paper.deviation ? kNormal95 * *paper.deviation : student_t95(ours.runs - 1) * ours.sd;
  const bool agrees =
      std::abs(ours.mean - paper.value) <= paper.unit + std::hypot(*margin, of_paper);
  return agrees ? Verdict::agrees : Verdict::differs;
}

Verdict judge_sign(const Measured& ours, Sign claimed) {
  return judge_signs({&ours, 1}, claimed)[0];
}

std::vector<Verdict> judge_signs(std::span<const Measured> ours, Sign claimed) {
  std::vector<double> p;
  for (const Measured& m : ours) p.push_back(p_value(m));
  const std::vector<double> adjusted = holm(p);
  std::vector<Verdict> verdicts;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const bool clear = adjusted[k] < kLevel && ours[k].mean != 0;
    verdicts.push_back(clear ? by_sign(ours[k].mean, claimed) : Verdict::undecided);
  }
  return verdicts;
}

Verdict judge_similar(const Measured& ours, double low, double high) {
  const std::optional<double> margin = ours.margin();
  if (!margin || !std::isfinite(ours.mean)) return Verdict::undecided;
  const double from = ours.mean - *margin, to = ours.mean + *margin;
  if (from >= low && to <= high) return Verdict::agrees;
  return to < low || from > high ? Verdict::differs : Verdict::undecided;
}

Verdict judge_interval(double low, double high, double paper, double tolerance) {
  const bool agrees = paper >= low - tolerance && paper <= high + tolerance;
  return agrees ? Verdict::agrees : Verdict::differs;
}

// With x = degrees / (degrees + t^2) the probability is the regularised incomplete beta function
// I_x(degrees / 2, 1 / 2); for whole degrees it is a finite sum (Abramowitz & Stegun 26.7.3 and
// 26.7.4) in the angle with tan = t / sqrt(degrees).
double student_p(double t, int degrees) {
  const double angle = std::atan2(std::abs(t), std::sqrt(degrees)), c = std::cos(angle),
               s = std::sin(angle);
  double sum = 0, term = degrees % 2 ? c : 1;
  for (int k = degrees % 2 ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= c * c * (k - 1) / k;
  }
  const double inside =
      degrees % 2 ? (angle + s * sum) * 2 / std::acos(-1.0) : s * sum;  // P(|T| < |t|)
  return std::max(0.0, 1 - inside);
}

double student_t95(int degrees) {
  double low = kNormal95, high = 13;  // 12.706 with one degree
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2;
    (student_p(middle, degrees) > kLevel ? low : high) = middle;
  }
  return high;
}

double p_value(const Measured& m) {
  if (!m.error || m.runs < 2) return NAN;
  if (*m.error == 0) return m.mean == 0 ? 1 : 0;
  return student_p(m.mean / *m.error, m.runs - 1);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t k) { return std::isnan(p[k]); });
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return p[k]; });
  std::vector<double> adjusted(p.begin(), p.end());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double own = static_cast<double>(order.size() - rank) * p[order[rank]];
    largest = std::max(largest, std::min(1.0, own));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace saltus::reproduce
