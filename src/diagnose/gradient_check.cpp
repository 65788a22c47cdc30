#include "saltus/diagnose/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

std::uint32_t below(std::uint32_t word, int n) {
  return static_cast<std::uint32_t>(std::uint64_t{word} * static_cast<std::uint32_t>(n) >> 32);
}

// A random state (unbounded integers: 0 to 9), and one of its coordinates moved to another level.
struct Change {
  std::vector<Symbol> from, to;
  int coordinate;
};

Change random_change(const Domain& domain, std::uint64_t seed, std::uint32_t number) {
  Change c;
  const Stream state(seed, number, 0, Purpose::check), move(seed, number, 1, Purpose::check);
  for (int i = 0; i < domain.dim(); ++i) {
    const int levels = domain.unbounded() ? 10 : domain.levels(i);
    c.from.push_back(static_cast<Symbol>(below(state.word(static_cast<std::uint32_t>(i)), levels)));
  }
  c.to = c.from;
  const PhiloxBlock b = move.block(0);
  c.coordinate = static_cast<int>(below(b[0], domain.dim()));
  Symbol& level = c.to[static_cast<std::size_t>(c.coordinate)];
  const int levels = domain.levels(c.coordinate);
  if (domain.kind() == Domain::Kind::categorical) {
    level =
        static_cast<Symbol>((level + 1u + below(b[1], levels - 1)) % static_cast<unsigned>(levels));
  } else {
    const bool up = level == 0 || (level + 1 < levels && b[1] % 2 == 0);
    level = static_cast<Symbol>(up ? level + 1 : level - 1);
  }
  return c;
}

// Lets the change begin at a state that the model allows.
void allow_start(const ForbiddenStates& forbidden, std::uint64_t seed, std::uint32_t number,
                 Change& c) {
  const auto i = static_cast<std::size_t>(c.coordinate);
  const Symbol level = c.to[i];
  forbidden.make_allowed(Stream(seed, number, 2, Purpose::check), c.from.data());
  c.to = c.from;
  c.to[i] = level;
}

// What the scores at both ends predict for the change of logp.
double trapezoid(const Domain& domain, const Change& c, const std::vector<double>& score_from,
                 const std::vector<double>& score_to) {
  const auto i = static_cast<std::size_t>(c.coordinate);
  if (domain.kind() == Domain::Kind::ordered) {
    const double step = domain.value(c.to[i]) - domain.value(c.from[i]);
    return (score_from[i] + score_to[i]) / 2 * step;
  }
  const auto begin = static_cast<std::size_t>(domain.score_begin(c.coordinate));
  const auto difference = [&](const std::vector<double>& s) {
    return s[begin + c.to[i]] - s[begin + c.from[i]];
  };
  return (difference(score_from) + difference(score_to)) / 2;
}

bool all_finite(const std::vector<double>& v) {
  return std::all_of(v.begin(), v.end(), [](double s) { return std::isfinite(s); });
}

}  // namespace

GradientCheck check_score(const Target& target, int changes, std::uint64_t seed) {
  GradientCheck result;
  double xx = 0, xy = 0, yy = 0;  // changes come in both directions, so their mean is zero
  const Domain& domain = target.domain();
  const auto scores = static_cast<std::size_t>(domain.score_size());
  const ForbiddenStates* forbidden = target.forbidden_states();
  std::vector<double> score_from(scores), score_to(scores);
  for (int n = 0; n < changes; ++n) {
    Change c = random_change(domain, seed, static_cast<std::uint32_t>(n));
    if (forbidden) allow_start(*forbidden, seed, static_cast<std::uint32_t>(n), c);
    const double from = logp_of(target, c.from.data(), score_from.data());
    const double difference = logp_of(target, c.to.data(), score_to.data()) - from;
    if (forbidden && !std::isfinite(difference)) continue;  // scores say nothing of these
    const double predicted = trapezoid(domain, c, score_from, score_to);
    const double error = std::abs(difference - predicted) / (1 + std::abs(difference));
    ++result.changes;
    xx += predicted * predicted;
    xy += predicted * difference;
    yy += difference * difference;
    result.finite = result.finite && std::isfinite(difference) && all_finite(score_from) &&
                    all_finite(score_to);
    if (error > result.worst_error) {
      result.worst_error = error;
      result.coordinate = c.coordinate;
      result.difference = difference;
      result.predicted = predicted;
    }
  }
  result.slope = xy / xx;
  result.correlation = xy / std::sqrt(xx * yy);
  return result;
}

double check_gradient(const Extension& extension, std::span<const double> v, double step) {
  std::vector<double> gradient(v.size()), at(v.begin(), v.end());
  extension(v, gradient);
  double worst = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    at[i] = v[i] + step;
    const double above = extension(at, {});
    at[i] = v[i] - step;
    const double below_it = extension(at, {});
    at[i] = v[i];
    const double difference = (above - below_it) / (2 * step);
    const double error = std::abs(difference - gradient[i]) / (1 + std::abs(gradient[i]));
    worst = std::isnan(error) ? error : std::max(worst, error);
    if (std::isnan(worst)) return worst;
  }
  return worst;
}

}  // namespace saltus
