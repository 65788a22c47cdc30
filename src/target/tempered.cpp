#include "saltus/target/tempered.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw_place.hpp"
#include "core/scalar_math.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::vector<double> fixed_score(const Independent& base) {
  std::vector<double> score;
  if (!base.fixed_score()) return score;
  const Domain& domain = base.domain();
  const bool by_level = domain.kind() == Domain::Kind::categorical;
  for (int i = 0; i < domain.dim(); ++i) {
    for (int k = 0; k < (by_level ? domain.levels(i) : 1); ++k) score.push_back(base.score(i, k));
  }
  return score;
}

}  // namespace

Tempered::Tempered(const Target& model, Independent base)
    : Tempered(model, std::make_shared<const Independent>(std::move(base))) {}

Tempered::Tempered(const Target& model, std::shared_ptr<const Independent> base)
    : model_(model),
      base_(std::move(base)),
      base_score_(std::make_shared<const std::vector<double>>(fixed_score(*base_))) {
  const Domain &ours = model.domain(), &theirs = base_->domain();
  bool same = ours.dim() == theirs.dim() && ours.kind() == theirs.kind();
  for (int i = 0; same && i < ours.dim(); ++i) same = ours.levels(i) == theirs.levels(i);
  if (!same) throw UsageError("the base is a law on other states than those of " + model.name());
  if (model.constraint() && !base_->constraint()) {
    throw UsageError("under the constraint " + model.constraint()->text() +
                     " the base is uniform among the states that it allows, no law of "
                     "independent coordinates");
  }
}

void Tempered::set_beta(double beta) {
  const bool colder = beta > 1 && base_->is_uniform() && std::isfinite(beta);
  if (!(beta >= 0 && beta <= 1) && !colder) {
    throw UsageError("beta is " + std::to_string(beta) + "; it must lie between 0 and 1" +
                     (base_->is_uniform() ? "" : ", or above where the base is uniform"));
  }
  beta_ = beta;
}

double Tempered::log_ratio(const Symbol* x, double logp) const {
  return (logp - base_->log_probability(x)) / beta_;
}

void Tempered::mix_logp(Rows<const Symbol> x, double* logp) const {
  if (!logp) return;
  for (int r = 0; r < x.rows; ++r) {
    logp[r] = tempering().logp(logp[r], base_->log_probability(x[r]));
  }
}

template <class T>
void Tempered::mix(Rows<const Symbol> x, Rows<const T> model_score, Rows<T> score) const {
  if (!score) return;
  const Tempering at = tempering();
  const auto entries = static_cast<std::size_t>(domain().score_size());
  for (int r = 0; r < x.rows; ++r) {
    const T* in = model_score[r];
    T* out = score[r];
    if (base_->fixed_score()) {
      const double* s = base_score_->data();
      for (std::size_t i = 0; i < entries; ++i) out[i] = at.score(in[i], static_cast<T>(s[i]));
    } else {
      for (int i = 0; i < x.cols; ++i) {
        out[i] = at.score(in[i], static_cast<T>(base_->score(i, x[r][i])));
      }
    }
  }
}

void Tempered::mix_score(Rows<const Symbol> x, Rows<const float> cache, Rows<float> score) const {
  mix<float>(x, score_of_model(cache), score);
}

void Tempered::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  model_.evaluate(at, x, logp, score);
  mix_logp(x, logp);
  mix<float>(x, score, score);
}

void Tempered::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                              Rows<double> score) const {
  model_.evaluate_exact(at, x, logp, score);
  mix_logp(x, logp);
  mix<double>(x, score, score);
}

template <class T>
Rows<T> Tempered::cache_of_model(Rows<T> cache) const {
  const int size = model_.cache_size();
  return cache && size > 0 ? Rows<T>{cache.data, cache.rows, size, cache.stride} : Rows<T>{};
}

template <class T>
Rows<T> Tempered::score_of_model(Rows<T> cache) const {
  if (!cache) return {};
  return {cache.data + padded(model_.cache_size()), cache.rows, domain().score_size(),
          cache.stride};
}

void Tempered::evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp,
                                  Rows<float> score, Rows<float> cache) const {
  const Rows<float> own = cache ? score_of_model(cache) : score;
  model_.evaluate_and_cache(at, x, logp, own, cache_of_model(cache));
  mix_logp(x, logp);
  mix<float>(x, own, score);
}

void Tempered::evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y,
                             double* logp, Rows<float> score, Rows<float> cache) const {
  if (!cheap_near()) return evaluate_and_cache(at, y, logp, score, cache);
  const Rows<float> own = cache ? score_of_model(cache) : score;
  model_.evaluate_near(
      at, {known.x, score_of_model(known.target_cache), cache_of_model(known.target_cache)}, y,
      logp, own, cache_of_model(cache));
  mix_logp(y, logp);
  mix<float>(y, own, score);
}

LocalRow Tempered::row_of_model(const LocalRow& row) const {
  const bool cache = row.target_cache && moves()->need_target_cache(),
             score = row.target_cache && moves()->need_score();
  return {row.x, score ? row.target_cache + padded(model_.cache_size()) : nullptr,
          cache ? row.target_cache : nullptr};
}

void Tempered::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  moves()->differences(row_of_model(row), i, first, count, out);
  const double now = base_->log_probability(i, row.x[i]);
  const ForbiddenStates* forbidden = beta_ > 0 ? model_.forbidden_states() : nullptr;
  const double penalty = forbidden ? forbidden->penalty() : 0;
  for (int m = 0; m < count; ++m) {
    // What is infinite stays so at every beta above 0.
    const double infinite = forbidden ? penalty * std::nearbyint(out[m] / penalty) : 0;
    out[m] =
        infinite + tempering().logp(out[m] - infinite, base_->log_probability(i, first + m) - now);
  }
}

void Tempered::move(const LocalRow& row, int i, Symbol to) const {
  moves()->move(row_of_model(row), i, to);
}

Symbol Tempered::other_level(const LocalRow& row, int i, double u) const {
  const auto other = static_cast<Symbol>(1 - row.x[i]);
  double log_odds = 0;
  differences(row, i, other, 1, &log_odds);
  return u < 1 / (1 + std::exp(-log_odds)) ? other : row.x[i];
}

Symbol Tempered::any_level(const LocalRow& row, int i, double u, std::span<double> room) const {
  const std::span weights = room.first(static_cast<std::size_t>(domain().levels(i)));
  differences(row, i, 0, domain().levels(i), weights.data());
  return static_cast<Symbol>(draw_by_logs(weights, u));
}

// Draws the coordinates in turn from the differences of log p; the t-th takes word_of(stream, t).
template <class WordOf>
void Tempered::update_one_by_one(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                                 const Draws& draws, WordOf word_of, std::uint32_t* changed) const {
  const int stride = padded(cache_size());
  Rows<float> cache;
  if (need_target_cache()) {
    cache = {at.scratch.get<float>(
                 7, static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(stride)),
             x.rows, cache_size(), stride};
    model_.evaluate_and_cache(at, x, nullptr,
                              moves()->need_score() ? score_of_model(cache) : Rows<float>{},
                              moves()->need_target_cache() ? cache_of_model(cache) : Rows<float>{});
  }
  const std::span room(at.scratch.get<double>(6, static_cast<std::size_t>(domain().max_levels())),
                       static_cast<std::size_t>(domain().max_levels()));
  for (int r = 0; r < x.rows; ++r) {
    const Stream stream(draws.seed, draws.first_chain + static_cast<std::uint32_t>(r), draws.step,
                        Purpose::level);
    const LocalRow row{x[r], nullptr, cache ? cache[r] : nullptr};
    for (std::size_t t = 0; t < order.size(); ++t) {
      const int i = order[t], levels = domain().levels(i);
      const double u = uniform_of_word(word_of(stream, static_cast<std::uint32_t>(t)));
      const Symbol to = levels == 2 ? other_level(row, i, u) : any_level(row, i, u, room);
      if (to == row.x[i]) continue;
      move(row, i, to);
      ++changed[r];
    }
  }
}

void Tempered::update(const At& at, Rows<Symbol> x, std::span<const std::int32_t> order,
                      const Draws& draws, std::uint32_t* changed) const {
  if (beta_ == 1) return sweeps()->update(at, x, order, draws, changed);
  update_one_by_one(
      at, x, order, draws,
      [&](const Stream& s, std::uint32_t t) { return s.sequence(draws.first_word + t); }, changed);
}

void Tempered::update_group(const At& at, Rows<Symbol> x, int group, const Draws& draws,
                            std::uint32_t* changed) const {
  if (beta_ == 1) return sweeps()->update_group(at, x, group, draws, changed);
  const std::vector<std::int32_t> sites = sweeps()->group(group);
  update_one_by_one(
      at, x, sites, draws,
      [&](const Stream& s, std::uint32_t t) { return s.word(draws.first_word + t); }, changed);
}

// The base of two levels is linear between them.
void Tempered::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                Rows<float> gradient) const {
  model_.relaxation()->evaluate_relaxed(at, v, logp, gradient);
  const double first = domain().first_value();
  for (int r = 0; r < v.rows; ++r) {
    double of_base = 0;
    for (int i = 0; i < v.cols; ++i) {
      const double slope = base_->score(i, 0);
      of_base += base_->log_probability(i, 0) + slope * (static_cast<double>(v[r][i]) - first);
      if (!gradient) continue;
      gradient[r][i] =
          static_cast<float>(tempering().score(static_cast<double>(gradient[r][i]), slope));
    }
    if (logp) logp[r] = tempering().logp(logp[r], of_base);
  }
}

double Tempered::log_odds_of_base(int i) const {
  return base_->log_probability(i, 1) - base_->log_probability(i, 0);
}

void Tempered::hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const {
  units()->hidden_log_odds(at, x, out);
  for (int r = 0; r < x.rows; ++r) {
    for (int h = 0; h < out.cols; ++h) out[r][h] *= static_cast<float>(beta_);
  }
}

void Tempered::visible_log_odds(const At& at, Rows<const Symbol> hidden, Rows<float> out) const {
  units()->visible_log_odds(at, hidden, out);
  for (int r = 0; r < hidden.rows; ++r) {
    for (int i = 0; i < out.cols; ++i) {
      out[r][i] = static_cast<float>(
          tempering().score(static_cast<double>(out[r][i]), log_odds_of_base(i)));
    }
  }
}

// p_beta has (1 + e^a)^beta for a hidden unit with log-odds a, and q has 1 + e^(beta a).
double Tempered::log_correction(double hidden_log_odds) const {
  if (leaves_target_invariant()) return 0;
  return beta_ * softplus(hidden_log_odds / beta_) - softplus(hidden_log_odds);
}

void Tempered::hidden_log_odds_exact(const Symbol* x, double* out) const {
  units()->hidden_log_odds_exact(x, out);
  for (int h = 0; h < hidden(); ++h) out[h] *= beta_;
}

void Tempered::visible_log_odds_exact(const Symbol* hidden, double* out) const {
  units()->visible_log_odds_exact(hidden, out);
  for (int i = 0; i < domain().dim(); ++i) {
    out[i] = tempering().score(out[i], log_odds_of_base(i));
  }
}

}  // namespace saltus
