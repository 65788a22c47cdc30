// A Bayesian neural network with weights -1 and +1 and one hidden layer,
//
//   f(z) = sigmoid( w2' tanh(W1' z + b1) + b2 ),   U = -temperature mean_i (f(z_i) - y_i)^2
//
// over rows of data (z_i, y_i), with a uniform prior. The state holds 0 for -1 and 1 for +1: W1
// (features rows of hidden entries), b1, w2, b2; d = (features + 2) hidden + 1. The score is the
// derivative with respect to the stored 0/1 value, that is twice the one by the weight.
#pragma once

#include <memory>
#include <vector>

#include "saltus/core/parallel.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

struct RegressionRows {
  int features = 0;
  std::vector<float> x;  // rows of `features` entries
  std::vector<float> y;
  int rows() const { return static_cast<int>(y.size()); }
};

struct BinaryNetworkOptions {
  int hidden = 500;
  double temperature = 100;
  int batch = 0;  // rows of data in a mini-batch, drawn anew without replacement at each evaluation
                  // from (seed, step); 0: all rows
};

class BinaryNetwork final : public Target {
 public:
  // Throws DataError when the rows do not fit, UsageError for options that make no sense.
  BinaryNetwork(RegressionRows rows, const BinaryNetworkOptions& options);

  std::string name() const override { return "bnn"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  bool stochastic() const override { return options_.batch > 0; }
  int preferred_tile() const override { return 1; }

  const RegressionRows& rows() const { return *rows_; }
  const BinaryNetworkOptions& options() const { return options_; }

  // f at every row of data, for every row of x.
  void predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
               ThreadPool& pool) const;

 private:
  std::shared_ptr<const RegressionRows> rows_;
  BinaryNetworkOptions options_;
  Domain domain_;
};

}  // namespace saltus
