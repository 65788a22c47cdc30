#include "saltus/target/bernoulli.hpp"

namespace saltus {

Bernoulli::Bernoulli(BernoulliModel model)
    : model_(std::move(model)), domain_(Domain::binary(static_cast<int>(model_.logits.size()))) {}

template <class Value, class T>
void Bernoulli::evaluate_rows(Rows<const Value> x, double* logp, Rows<T> score) const {
  const std::size_t dim = model_.logits.size();
  for (int r = 0; r < x.rows; ++r) {
    double sum = model_.constant;
    if (logp) {
      for (std::size_t i = 0; i < dim; ++i) sum += model_.logits[i] * static_cast<double>(x[r][i]);
      logp[r] = sum;
    }
    if (score) {
      for (std::size_t i = 0; i < dim; ++i) score[r][i] = static_cast<T>(model_.logits[i]);
    }
  }
}

void Bernoulli::evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_rows(x, logp, score);
}

void Bernoulli::evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                               Rows<double> score) const {
  evaluate_rows(x, logp, score);
}

void Bernoulli::evaluate_relaxed(const At&, Rows<const float> v, double* logp,
                                 Rows<float> gradient) const {
  evaluate_rows(v, logp, gradient);
}

void Bernoulli::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  for (int m = 0; m < count; ++m) {
    out[m] = model_.logits[static_cast<std::size_t>(i)] * (first + m - row.x[i]);
  }
}

}  // namespace saltus
