#include "saltus/sampler/dlmc.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/scalar_math.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/informed/balancing.hpp"

namespace saltus {
namespace {

constexpr double kStartTau = 0.1, kLeastTau = 1e-8, kMostTau = 1e4;

// Probabilities below this are treated in log space.
constexpr double kTiny = 1e-100;

// Tuning works on 2 log tau.
double scale_of_tau(double tau) {
  return 2 * std::log(tau);
}
double tau_of_scale(double z) {
  return std::exp(z / 2);
}

}  // namespace

Dlmc::Dlmc(const Domain& domain, const DlmcOptions& options) : domain_(domain), options_(options) {
  check_window(domain_, options_.window);
  options_.window = std::min(options_.window, domain_.max_levels() - 1);
  if (options_.step_size && !(*options_.step_size > 0)) {
    throw UsageError("step_size is " + std::to_string(*options_.step_size) +
                     "; it must be above 0");
  }
  if (!options_.adapt) options_.adapt = !options_.step_size;
  if (!*options_.adapt && !options_.step_size) throw UsageError("adapt=false needs a step_size");
  step_size_ = options_.step_size.value_or(kStartTau);
}

std::vector<Parameter> Dlmc::parameters() const {
  std::vector<Parameter> list{{"step_size", step_size_}, {"adapt", *options_.adapt}};
  list.push_back({"form", options_.form == DlmcOptions::Form::heat ? "heat" : "euler"});
  list.push_back({"balancing", balancing_name(options_.balancing)});
  if (options_.window) list.push_back({"window", std::int64_t{options_.window}});
  return list;
}

// The number of changes grows like tau while it is small; once all of nu is reached the acceptance
// rate no longer falls, and tau may stay at its upper end.
std::vector<Tuning> Dlmc::tuning() const {
  const double low = scale_of_tau(kLeastTau), high = scale_of_tau(kMostTau);
  return {{std::clamp(scale_of_tau(step_size_), low, high), low, high, 0.574}};
}

std::unique_ptr<Sampler> Dlmc::tuned(std::span<const double> value, Phase) const {
  DlmcOptions options = options_;
  options.step_size = tau_of_scale(value[0]);
  return std::make_unique<Dlmc>(domain_, options);
}

namespace {

// How much of nu_k has moved to level k by time tau and how much is still at the old level, as
// parts of nu_k, for t = tau w_k / nu_k. t is at least tau: w_k / nu_k >= 1 for each of the four
// balancing functions.
struct Progress {
  DlmcOptions::Form form;

  struct Parts {
    double moved, left;
  };
  Parts at(double t) const {
    if (form == DlmcOptions::Form::euler) return {std::min(t, 1.0), std::max(1 - t, 0.0)};
    if (t < 0.5) {
      const double moved = -std::expm1(-t);
      return {moved, 1 - moved};
    }
    const double left = std::exp(-t);
    return {1 - left, left};
  }
  double log_left(double t) const {
    if (form == DlmcOptions::Form::heat) return -t;
    return t < 1 ? std::log1p(-t) : -INFINITY;
  }
};

double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top + std::log1p(std::exp(std::min(a, b) - top));
}

// log of a product of many probabilities, with few logarithms.
class LogProduct {
 public:
  void multiply(double p) {
    product_ *= p;
    if (product_ < kTiny) {
      sum_ += std::log(product_);
      product_ = 1;
    }
  }
  void add_log(double log_p) { sum_ += log_p; }
  double log() const { return sum_ + std::log(product_); }

 private:
  double product_ = 1, sum_ = 0;
};

// One two-level coordinate. There w_k / nu_k = w(d) + w(-d), which follows from one exponential.
class Flip {
 public:
  Flip(const Progress& progress, Balancing balancing, double tau, double d)
      : progress_(progress), d_(d) {
    const double half = std::exp(-std::abs(d) / 2), e = half * half, share = 1 / (1 + e);
    t_ = tau * rates(balancing, half);
    const Progress::Parts part = progress.at(t_);
    flip = (d >= 0 ? 1 : e) * share * part.moved;
    stay = (d >= 0 ? e + part.left : 1 + e * part.left) * share;
  }

  double flip, stay;  // probabilities

  double log_flip() const { return -softplus(-d_) + std::log(progress_.at(t_).moved); }
  double log_stay() const {
    return log_add(-softplus(d_), -softplus(-d_) + progress_.log_left(t_));
  }
  void multiply(bool flipped, LogProduct& product) const {
    const double p = flipped ? flip : stay;
    if (p > kTiny) {
      product.multiply(p);
    } else {
      product.add_log(flipped ? log_flip() : log_stay());
    }
  }

 private:
  // w(d) + w(-d), half = exp(-|d| / 2)
  static double rates(Balancing balancing, double half) {
    switch (balancing) {
      case Balancing::sqrt:
        return half + 1 / half;
      case Balancing::ratio:
        return 1;
      case Balancing::min:
        return 1 + half * half;
      case Balancing::max:
        return 1 + 1 / (half * half);
    }
    return 1;
  }

  const Progress& progress_;
  double d_, t_;
};

// The levels that one coordinate may move to, and nu on them.
class Levels {
 public:
  // `room` holds two entries for each level in reach.
  Levels(const Domain& domain, int window, int i, int x, const float* score, double* room) {
    const int last = domain.levels(i) - 1;
    first = window && x > window ? x - window : 0;
    end = 1 + (window && last - x > window ? x + window : last);
    d_ = room;
    nu_ = room + (end - first);
    const bool ordered = domain.kind() == Domain::Kind::ordered;
    const float* of_level = score + domain.score_begin(i);
    double top = 0, sum = 0;
    for (int k = first; k < end; ++k) {
      const double d = ordered ? domain.spacing() * double{score[i]} * (k - x)
                               : double{of_level[k]} - double{of_level[x]};
      top = std::max(top, d);
      d_[k - first] = d;
    }
    const int count = end - first;
    for (int m = 0; m < count; ++m) sum += nu_[m] = std::exp(d_[m] - top);
    for (int m = 0; m < count; ++m) nu_[m] /= sum;
    log_normaliser_ = top + std::log(sum);
  }

  int first, end;

  double d(int k) const { return d_[k - first]; }
  double nu(int k) const { return nu_[k - first]; }
  double log_nu(int k) const { return d(k) - log_normaliser_; }

 private:
  double *d_, *nu_;
  double log_normaliser_;
};

// The passes over one row, for given parameters.
struct Pass {
  const Domain& domain;
  Progress progress;
  Balancing balancing;
  double tau;
  int window;
  double* room;  // two entries for each level in reach

  struct Proposed {
    double log_q = 0;
    std::uint32_t changes = 0;
  };
  Proposed propose(const Symbol* x, const float* score, Symbol* y, const Stream& stream) const {
    return domain.two_level() ? propose_flips(x, score, y, stream)
                              : propose_levels(x, score, y, stream);
  }
  double log_q(const Symbol* from, const float* score, const Symbol* to) const;

 private:
  Flip flip(Symbol x, float score) const {
    return {progress, balancing, tau, domain.spacing() * double{score} * (x ? -1 : 1)};
  }
  Proposed propose_flips(const Symbol* x, const float* score, Symbol* y,
                         const Stream& stream) const;
  Proposed propose_levels(const Symbol* x, const float* score, Symbol* y,
                          const Stream& stream) const;
  // tau w_k / nu_k
  double time(const Levels& levels, int k) const {
    return tau * std::exp(log_weight(balancing, levels.d(k)) - levels.log_nu(k));
  }
  struct Drawn {
    int level;
    double log_p;
  };
  Drawn draw(const Levels& levels, int x, double u) const;
  double log_move(const Levels& levels, int to) const;
  double log_stay(const Levels& levels, int x) const;
  double log_of_tiny_stay(const Levels& levels, int x) const;
};

// The words of 64 coordinates, four from each of 16 blocks; see Stream::word.
std::array<std::uint32_t, 64> words_from(const Stream& stream, int first) {
  std::array<std::uint32_t, 64> words;
  for (std::uint32_t l = 0; l < 16; ++l) {
    const PhiloxBlock block = stream.block(static_cast<std::uint32_t>(first) / 4 + l);
    for (std::size_t w = 0; w < 4; ++w) words[16 * w + l] = block[w];
  }
  return words;
}

Pass::Proposed Pass::propose_flips(const Symbol* x, const float* score, Symbol* y,
                                   const Stream& stream) const {
  LogProduct q;
  Proposed out;
  for (int begin = 0; begin < domain.dim(); begin += 64) {
    const auto words = words_from(stream, begin);
    for (int i = begin; i < std::min(begin + 64, domain.dim()); ++i) {
      const Flip f = flip(x[i], score[i]);
      // Decided by the unlikelier of flip and stay, whose probability keeps its digits.
      const double u = (words[static_cast<std::size_t>(i - begin)] + 0.5) * 0x1p-32;
      const bool flipped = f.flip <= f.stay ? u < f.flip : u >= f.stay;
      y[i] = flipped ? static_cast<Symbol>(1 - x[i]) : x[i];
      out.changes += flipped;
      f.multiply(flipped, q);
    }
  }
  out.log_q = q.log();
  return out;
}

Pass::Proposed Pass::propose_levels(const Symbol* x, const float* score, Symbol* y,
                                    const Stream& stream) const {
  Proposed out;
  for (int i = 0; i < domain.dim(); ++i) {
    const Levels levels(domain, window, i, x[i], score, room);
    const Drawn drawn = draw(levels, x[i], stream.uniform(static_cast<std::uint32_t>(i)));
    y[i] = static_cast<Symbol>(drawn.level);
    out.changes += y[i] != x[i];
    out.log_q += drawn.log_p;
  }
  return out;
}

double Pass::log_q(const Symbol* from, const float* score, const Symbol* to) const {
  LogProduct q;
  for (int i = 0; i < domain.dim(); ++i) {
    if (domain.two_level()) {
      flip(from[i], score[i]).multiply(from[i] != to[i], q);
    } else {
      const Levels levels(domain, window, i, from[i], score, room);
      q.add_log(to[i] == from[i] ? log_stay(levels, to[i]) : log_move(levels, to[i]));
    }
  }
  return q.log();
}

// The other levels in order, staying last, so that small probabilities of a move keep their digits.
Pass::Drawn Pass::draw(const Levels& levels, int x, double u) const {
  double below = 0, stay = levels.nu(x);
  for (int k = levels.first; k < levels.end; ++k) {
    if (k == x) continue;
    const Progress::Parts part = progress.at(time(levels, k));
    below += levels.nu(k) * part.moved;
    stay += levels.nu(k) * part.left;
    if (u < below) return {k, log_move(levels, k)};
  }
  return {x, stay > kTiny ? std::log(stay) : log_of_tiny_stay(levels, x)};
}

double Pass::log_move(const Levels& levels, int to) const {
  return levels.log_nu(to) + std::log(progress.at(time(levels, to)).moved);
}

// 1 - sum of the others = nu_x + sum of what is left of the others: no cancellation, and never
// below nu_x.
double Pass::log_stay(const Levels& levels, int x) const {
  double stay = levels.nu(x);
  for (int k = levels.first; k < levels.end; ++k) {
    if (k != x) stay += levels.nu(k) * progress.at(time(levels, k)).left;
  }
  return stay > kTiny ? std::log(stay) : log_of_tiny_stay(levels, x);
}

double Pass::log_of_tiny_stay(const Levels& levels, int x) const {
  double log_p = levels.log_nu(x);
  for (int k = levels.first; k < levels.end; ++k) {
    if (k == x) continue;
    log_p = log_add(log_p, levels.log_nu(k) + progress.log_left(time(levels, k)));
  }
  return log_p;
}

}  // namespace

void Dlmc::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const int rows = tile.rows();
  const int candidates = options_.window ? std::min(2 * options_.window + 1, domain_.max_levels())
                                         : domain_.max_levels();
  const Pass pass{domain_,
                  {options_.form},
                  options_.balancing,
                  step_size_,
                  options_.window,
                  work.sampler_scratch.get<double>(0, 2 * static_cast<std::size_t>(candidates))};
  double* log_q = work.sampler_scratch.get<double>(1, static_cast<std::size_t>(rows));
  Tile& y = work.proposal;
  for (int r = 0; r < rows; ++r) {
    const Pass::Proposed p =
        pass.propose(tile.x[r], tile.score[r], y.x[r], work.stream(tile, r, Purpose::propose));
    log_q[r] = p.log_q;
    info[static_cast<std::size_t>(r)].proposed = p.changes;
  }
  evaluate_proposals(target, tile, work, true);
  for (int r = 0; r < rows; ++r) {
    const double log_ratio =
        y.logp[r] - tile.logp[r] + pass.log_q(y.x[r], y.score[r], tile.x[r]) - log_q[r];
    test_proposal(log_ratio, tile, r, work, info[static_cast<std::size_t>(r)]);
  }
  ++tile.step;
}

SamplerEntry dlmc_entry() {
  const auto make = [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
    DlmcOptions options;
    options.step_size = number_setting(settings, "step_size");
    options.adapt = switch_setting(settings, "adapt");
    options.form = choice_setting(settings, "form", {"heat", "euler"}) == 0
                       ? DlmcOptions::Form::heat
                       : DlmcOptions::Form::euler;
    options.balancing = balancing_setting(settings);
    options.window = window_setting(settings, target.domain());
    return std::make_unique<Dlmc>(target.domain(), options);
  };
  return {"dlmc",
          "discrete Langevin Monte Carlo: the heat kernel of a jump process: exact",
          {"step_size", "adapt", "form", "balancing", "window"},
          make};
}

}  // namespace saltus
