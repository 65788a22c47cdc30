#include "saltus/target/tempered.hpp"

#include <algorithm>

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
    : model_(model),
      base_(std::make_shared<const Independent>(std::move(base))),
      base_score_(std::make_shared<const std::vector<double>>(fixed_score(*base_))) {
  const Domain &ours = model.domain(), &theirs = base_->domain();
  bool same = ours.dim() == theirs.dim() && ours.kind() == theirs.kind();
  for (int i = 0; same && i < ours.dim(); ++i) same = ours.levels(i) == theirs.levels(i);
  if (!same) throw UsageError("the base is a law on other states than those of " + model.name());
}

void Tempered::set_beta(double beta) {
  if (!(beta >= 0 && beta <= 1)) {
    throw UsageError("beta is " + std::to_string(beta) + "; it must lie between 0 and 1");
  }
  beta_ = beta;
}

// of_model v + of_base v_0. A factor of 0 drops what may be infinite.
template <class T>
void Tempered::mix(double of_model, double of_base, Rows<const Symbol> x, double* logp,
                   Rows<const T> model_score, Rows<T> score) const {
  const auto model = static_cast<T>(of_model), rest = static_cast<T>(of_base);
  const std::size_t entries = score ? static_cast<std::size_t>(domain().score_size()) : 0;
  for (int r = 0; r < x.rows; ++r) {
    if (logp) {
      logp[r] = (of_model == 0 ? 0 : of_model * logp[r]) + of_base * base_->log_probability(x[r]);
    }
    if (entries == 0) continue;
    T* out = score[r];
    if (const T* in = model_score[r]; in != out) std::copy_n(in, entries, out);
    if (base_->fixed_score()) {
      const double* s = base_score_->data();
      for (std::size_t i = 0; i < entries; ++i) {
        out[i] = model * out[i] + rest * static_cast<T>(s[i]);
      }
    } else {
      for (int i = 0; i < x.cols; ++i) {
        out[i] = model * out[i] + rest * static_cast<T>(base_->score(i, x[r][i]));
      }
    }
  }
}

void Tempered::change_beta(double beta, Rows<const Symbol> x, double* logp, Rows<float> score) {
  const double c = beta / beta_;
  set_beta(beta);
  if (c != 1) mix<float>(c, 1 - c, x, logp, score, score);
}

void Tempered::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  model_.evaluate(at, x, logp, score);
  mix<float>(beta_, 1 - beta_, x, logp, score, score);
}

void Tempered::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                              Rows<double> score) const {
  model_.evaluate_exact(at, x, logp, score);
  mix<double>(beta_, 1 - beta_, x, logp, score, score);
}

// A kept row: the model's kept values, room up to the padding, and the model's score.
bool Tempered::keeps_score() const {
  return model_.cheap_near() || (moves() && moves()->need_score());
}

int Tempered::kept_size() const {
  const int kept = model_.kept_size();
  return keeps_score() ? padded(kept) + domain().score_size() : kept;
}

template <class T>
Rows<T> Tempered::kept_of_model(Rows<T> kept) const {
  const int size = model_.kept_size();
  return kept && size > 0 ? Rows<T>{kept.data, kept.rows, size, kept.stride} : Rows<T>{};
}

template <class T>
Rows<T> Tempered::score_of_model(Rows<T> kept) const {
  if (!kept || !keeps_score()) return {};
  return {kept.data + padded(model_.kept_size()), kept.rows, domain().score_size(), kept.stride};
}

void Tempered::evaluate_kept(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                             Rows<float> kept) const {
  const Rows<float> kept_score = score_of_model(kept), made = kept_score ? kept_score : score;
  model_.evaluate_kept(at, x, logp, made, kept_of_model(kept));
  mix<float>(beta_, 1 - beta_, x, logp, made, score);
}

void Tempered::evaluate_near(const At& at, const Known& known, Rows<const Symbol> y, double* logp,
                             Rows<float> score, Rows<float> kept) const {
  if (!cheap_near()) return evaluate_kept(at, y, logp, score, kept);
  const Rows<float> kept_score = score_of_model(kept), made = kept_score ? kept_score : score;
  model_.evaluate_near(at, {known.x, score_of_model(known.kept), kept_of_model(known.kept)}, y,
                       logp, made, kept_of_model(kept));
  mix<float>(beta_, 1 - beta_, y, logp, made, score);
}

LocalRow Tempered::row_of_model(const LocalRow& row) const {
  const bool kept = row.kept && moves()->need_kept(), score = row.kept && moves()->need_score();
  return {row.x, score ? row.kept + padded(model_.kept_size()) : nullptr,
          kept ? row.kept : nullptr};
}

void Tempered::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  moves()->differences(row_of_model(row), i, first, count, out);
  const double now = base_->log_probability(i, row.x[i]);
  for (int m = 0; m < count; ++m) {
    out[m] = (beta_ == 0 ? 0 : beta_ * out[m]) +
             (1 - beta_) * (base_->log_probability(i, first + m) - now);
  }
}

void Tempered::move(const LocalRow& row, int i, Symbol to) const {
  moves()->move(row_of_model(row), i, to);
}

}  // namespace saltus
