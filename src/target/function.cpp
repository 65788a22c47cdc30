#include "saltus/target/function.hpp"

namespace saltus {

// x holds levels (Symbol) or values (float).
template <class X, class T>
void Function::evaluate_rows(const At& at, Rows<const X> x, double* logp, Rows<T> score) const {
  const auto dim = static_cast<std::size_t>(domain_.dim());
  const auto scores = static_cast<std::size_t>(domain_.score_size());
  const std::span v(at.scratch.get<double>(0, dim), dim);
  const std::span gradient(at.scratch.get<double>(1, scores), score ? scores : 0);
  for (int r = 0; r < x.rows; ++r) {
    for (std::size_t i = 0; i < dim; ++i) {
      if constexpr (std::is_same_v<X, Symbol>) {
        v[i] = domain_.value(x[r][i]);
      } else {
        v[i] = double{x[r][i]};
      }
    }
    const double value = callable_(v, gradient);
    if (logp) logp[r] = value;
    for (std::size_t k = 0; k < gradient.size(); ++k) score[r][k] = static_cast<T>(gradient[k]);
  }
}

void Function::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                Rows<float> gradient) const {
  evaluate_rows(at, v, logp, gradient);
}

void Function::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_rows(at, x, logp, score);
}

void Function::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                              Rows<double> score) const {
  evaluate_rows(at, x, logp, score);
}

}  // namespace saltus
