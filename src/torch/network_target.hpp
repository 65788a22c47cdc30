// A target whose log p is computed by tensors, with the score by automatic differentiation.
#pragma once

#include <ATen/ATen.h>

#include "saltus/target/target.hpp"

namespace saltus {

class NetworkTarget : public Target, public Relaxation {
 public:
  const Domain& domain() const override { return domain_; }
  // What the network throws becomes a ComputationError: it may be the fault of one row, but says
  // nothing about the others.
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  const Relaxation* relaxation() const override { return domain_.two_level() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;
  // Large enough to outweigh the calls, small enough to leave a batch for every core.
  int preferred_tile() const override { return device_.is_cpu() ? 32 : 4096; }

 protected:
  NetworkTarget(Domain domain, at::Device device) : domain_(std::move(domain)), device_(device) {}

  at::Device device() const { return device_; }

  // One number for each row of x: (rows, dim), or (rows, dim, levels) when categorical.
  virtual at::Tensor network(const at::Tensor& x) const = 0;
  // Adds to log p and score what the network leaves out; `v` has the rows of x. A null output is
  // not wanted.
  virtual void add_base(Rows<const float> /*v*/, double* /*logp*/, Rows<float> /*score*/) const {}

  // What an error message names.
  virtual std::string origin() const { return "the model " + name(); }

 private:
  // evaluate_relaxed for rows of the network's input, which lie one behind the other.
  void compute(Rows<const float> v, double* logp, Rows<float> score) const;

  Domain domain_;
  at::Device device_;
};

// The values of states as the network takes them, one row behind the other, in `out`: numbers, or
// ones among zeros when the domain is categorical. out holds x.rows * domain.score_size().
Rows<const float> write_values(const Domain& domain, Rows<const Symbol> x, float* out);

}  // namespace saltus
