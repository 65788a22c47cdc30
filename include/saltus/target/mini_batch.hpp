// A target that is a sum over data, log p(x) = sum_n f_n(x), estimated without bias from a
// mini-batch: (N / B) sum over a batch of B terms drawn without replacement. The batch is a
// function of the seed and the step alone and is shared by all chains. For unadjusted samplers
// only.
#pragma once

#include <functional>
#include <span>

#include "saltus/target/target.hpp"

namespace saltus {

// The terms, of `terms` ones, that are in use at a step, in increasing order: as many as `batch`
// has room for.
void draw_batch(std::uint64_t seed, std::uint64_t step, std::uint32_t terms,
                std::span<std::uint32_t> batch);

class MiniBatch final : public Target {
 public:
  // Returns the sum of f_n(v) over the batch and writes the sum of its gradients (see Function).
  using Callable = std::function<double(std::span<const std::uint32_t> batch,
                                        std::span<const double> v, std::span<double> gradient)>;

  MiniBatch(Domain domain, std::uint32_t terms, std::uint32_t batch_size, Callable callable,
            std::string name = "mini-batch");

  std::string name() const override { return name_; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  bool stochastic() const override { return batch_size_ < terms_; }

  // The terms in use at a step, in increasing order: `batch` has room for batch_size of them.
  void draw_batch(std::uint64_t seed, std::uint64_t step, std::span<std::uint32_t> batch) const {
    saltus::draw_batch(seed, step, terms_, batch);
  }

 private:
  Domain domain_;
  std::uint32_t terms_, batch_size_;
  Callable callable_;
  std::string name_;
};

}  // namespace saltus
