#include "saltus/target/mini_batch.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {

MiniBatch::MiniBatch(Domain domain, std::uint32_t terms, std::uint32_t batch_size,
                     Callable callable, std::string name)
    : domain_(std::move(domain)),
      terms_(terms),
      batch_size_(batch_size),
      callable_(std::move(callable)),
      name_(std::move(name)) {
  if (batch_size < 1 || batch_size > terms) {
    throw UsageError("a mini-batch of " + std::to_string(batch_size) + " out of " +
                     std::to_string(terms) + " terms is not possible");
  }
}

// Floyd's algorithm: for j = N - B .. N - 1 take a uniform t in 0..j, or j itself when t is taken.
void draw_batch(std::uint64_t seed, std::uint64_t step, std::uint32_t terms,
                std::span<std::uint32_t> batch) {
  const Stream stream(seed, kAllChains, step, Purpose::batch);
  std::size_t size = 0;
  for (auto j = terms - static_cast<std::uint32_t>(batch.size()); j < terms; ++j) {
    const auto t = static_cast<std::uint32_t>(stream.uniform(j) * (static_cast<double>(j) + 1));
    const auto taken = batch.begin() + static_cast<std::ptrdiff_t>(size);
    const auto place = std::lower_bound(batch.begin(), taken, t);
    const bool used = place != taken && *place == t;
    if (used) {
      *taken = j;  // larger than all before it
    } else {
      std::copy_backward(place, taken, taken + 1);
      *place = t;
    }
    ++size;
  }
}

void MiniBatch::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                         Rows<float> score) const {
  const auto dim = static_cast<std::size_t>(domain_.dim());
  const auto scores = static_cast<std::size_t>(domain_.score_size());
  const std::span v(at.scratch.get<double>(0, dim), dim);
  const std::span gradient(at.scratch.get<double>(1, scores), score ? scores : 0);
  const std::span batch(at.scratch.get<std::uint32_t>(2, batch_size_), batch_size_);
  draw_batch(at.seed, at.step, batch);
  const double scale = static_cast<double>(terms_) / batch_size_;
  for (int r = 0; r < x.rows; ++r) {
    for (std::size_t i = 0; i < dim; ++i) v[i] = domain_.value(x[r][i]);
    const double sum = callable_(batch, v, gradient);
    if (logp) logp[r] = scale * sum;
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      score[r][k] = static_cast<float>(scale * gradient[k]);
    }
  }
}

}  // namespace saltus
