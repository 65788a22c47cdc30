#include "saltus/learn/adam.hpp"

#include <cmath>
#include <experimental/simd>

namespace saltus {
namespace {

namespace simd = std::experimental;

// A step of one entry, or of several side by side: the compiler would not do that by itself with a
// square root, which may set errno.
struct Rule {
  float beta1, beta2, new1, new2, rate, root, epsilon;

  template <class V>
  void apply(V& p, V& m, V& v, const V& g) const {
    using simd::sqrt, std::sqrt;
    m = beta1 * m + new1 * g;
    v = beta2 * v + new2 * (g * g);
    p -= rate * m / (sqrt(v) * root + epsilon);
  }
};

}  // namespace

Adam::Adam(std::size_t parameters, const AdamOptions& options)
    : options_(options), mean_(parameters), square_(parameters) {
  const auto fraction = [](double beta) { return beta >= 0 && beta < 1; };
  const bool good = options.rate >= 0 && std::isfinite(options.rate) && fraction(options.beta1) &&
                    fraction(options.beta2) && options.epsilon > 0;
  if (!good) {
    throw UsageError(
        "Adam needs a rate of at least 0, beta1 and beta2 from 0 to below 1, and an epsilon above "
        "0");
  }
}

void Adam::step(std::span<float> parameters, std::span<const float> gradient, double rate) {
  if (parameters.size() != mean_.size() || gradient.size() != mean_.size()) {
    throw DataError("Adam was made for " + std::to_string(mean_.size()) + " parameters, not " +
                    std::to_string(parameters.size()));
  }
  ++steps_;
  const auto narrow = [](double value) { return static_cast<float>(value); };
  const Rule rule{narrow(options_.beta1),
                  narrow(options_.beta2),
                  narrow(1 - options_.beta1),
                  narrow(1 - options_.beta2),
                  narrow(options_.corrected_rate(rate, steps_)),
                  narrow(options_.root_factor(steps_)),
                  narrow(options_.epsilon)};
  using Lanes = simd::native_simd<float>;
  constexpr auto kAnywhere = simd::element_aligned;
  float *p = parameters.data(), *m = mean_.data(), *v = square_.data();
  const float* g = gradient.data();
  std::size_t i = 0;
  for (const std::size_t n = mean_.size(); i + Lanes::size() <= n; i += Lanes::size()) {
    Lanes here(p + i, kAnywhere), mean(m + i, kAnywhere), square(v + i, kAnywhere);
    rule.apply(here, mean, square, Lanes(g + i, kAnywhere));
    here.copy_to(p + i, kAnywhere);
    mean.copy_to(m + i, kAnywhere);
    square.copy_to(v + i, kAnywhere);
  }
  for (; i < mean_.size(); ++i) rule.apply(p[i], m[i], v[i], g[i]);
}

void Adam::save(ByteWriter& out) const {
  out.put(steps_);
  out.put_array(std::span<const float>(mean_));
  out.put_array(std::span<const float>(square_));
}

void Adam::restore(ByteReader& in) {
  in.get(steps_);
  in.get_array(std::span<float>(mean_));
  in.get_array(std::span<float>(square_));
}

}  // namespace saltus
