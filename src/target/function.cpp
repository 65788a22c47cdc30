#include "saltus/target/function.hpp"

#include <algorithm>
#include <type_traits>

namespace saltus {

// x holds levels (Symbol) or values (float).
template <class T, class X>
Rows<const T> BatchFunction::values_of(const At& at, Rows<const X> x) const {
  if (!options_.values) return {};
  const int dim = domain_.dim();
  const Rows<T> v{
      at.scratch.get<T>(0, static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(dim)),
      x.rows, dim, dim};
  for (int r = 0; r < x.rows; ++r) {
    for (int i = 0; i < dim; ++i) {
      if constexpr (std::is_same_v<X, Symbol>) {
        v[r][i] = static_cast<T>(domain_.value(x[r][i]));
      } else {
        v[r][i] = x[r][i];
      }
    }
  }
  return v;
}

// The callable writes into the caller's score where the precision is the same.
template <class X, class S>
void BatchFunction::call(const At& at, Rows<const X> x, double* logp, Rows<S> score) const {
  const auto in_precision = [&]<class T>(const std::function<void(const BatchCall<T>&)>& f) {
    const auto rows = static_cast<std::size_t>(x.rows);
    BatchCall<T> c{x.rows, {}, values_of<T>(at, x), {at.scratch.get<T>(1, rows), rows}, {}};
    if constexpr (std::is_same_v<X, Symbol>) c.levels = x;
    const int size = domain_.score_size();
    if constexpr (std::is_same_v<S, T>) {
      c.score = {score.data, score ? x.rows : 0, size, score.stride};
    } else if (score) {
      c.score = {at.scratch.get<T>(2, rows * static_cast<std::size_t>(size)), x.rows, size, size};
    }
    f(c);
    if (logp) std::copy(c.logp.begin(), c.logp.end(), logp);
    if constexpr (!std::is_same_v<S, T>) {
      for (int r = 0; r < c.score.rows; ++r) {
        std::transform(c.score[r], c.score[r] + size, score[r],
                       [](T v) { return static_cast<S>(v); });
      }
    }
  };
  std::visit(in_precision, callable_);
}

void BatchFunction::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                     Rows<float> gradient) const {
  call(at, v, logp, gradient);
}

void BatchFunction::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                             Rows<float> score) const {
  call(at, x, logp, score);
}

void BatchFunction::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                                   Rows<double> score) const {
  call(at, x, logp, score);
}

Function::Function(Domain domain, Callable callable, std::string name)
    : BatchFunction(std::move(domain),
                    Double([f = std::move(callable)](const BatchCall<double>& c) {
                      for (int r = 0; r < c.rows; ++r) {
                        c.logp[static_cast<std::size_t>(r)] =
                            f(c.values.row(r), c.score ? c.score.row(r) : std::span<double>());
                      }
                    }),
                    {std::move(name), true, 0}) {}

}  // namespace saltus
