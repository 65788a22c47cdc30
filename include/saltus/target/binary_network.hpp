// A Bayesian neural network with weights -1 and +1 and one hidden layer,
//
//   f(z) = sigmoid( w2' tanh(W1' z + b1) + b2 ),   logp = -temperature mean_i (f(z_i) - y_i)^2
//
// over rows of data (z_i, y_i), with a uniform prior. The state holds 0 for -1 and 1 for +1: W1
// (features rows of hidden entries), b1, w2, b2; d = (features + 2) hidden + 1. The score is the
// derivative with respect to the stored 0/1 value, that is twice the one by the weight.
//
// It keeps the logit w2' tanh(W1' z_i + b1) + b2 of every row of data. With these, a change of one
// weight costs one hidden unit, O(rows * features), and not an evaluation.
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

// Where the weights lie in a state.
struct BinaryNetworkShape {
  int features, hidden;

  int dim() const { return (features + 2) * hidden + 1; }
  int first_bias() const { return features * hidden; }           // b1
  int second_weight() const { return (features + 1) * hidden; }  // w2
  int second_bias() const { return dim() - 1; }                  // b2
};

// What networks say of rows of data. A network on a device has its own way to it.
class NetworkPredictions {
 public:
  virtual ~NetworkPredictions() = default;
  // f at every row of other data, for every row of x. Throws DataError when the data have other
  // features.
  virtual void predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
                       ThreadPool& pool) const = 0;
};

class BinaryNetwork final : public Target, public LocalMoves, public NetworkPredictions {
 public:
  // Throws DataError when the rows do not fit, UsageError for options that make no sense.
  BinaryNetwork(RegressionRows rows, const BinaryNetworkOptions& options);
  // The same rows of data, which the two share, with other options.
  BinaryNetwork(const BinaryNetwork& other, const BinaryNetworkOptions& options);

  std::string name() const override { return "bnn"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  bool stochastic() const override { return options_.batch > 0; }
  int preferred_tile() const override { return 1; }

  // Of a mini-batch nothing is kept: the next one has other rows.
  int cache_size() const override { return stochastic() ? 0 : rows().rows(); }
  void evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                          Rows<float> cache) const override;

  const LocalMoves* local_moves() const override { return stochastic() ? nullptr : this; }
  bool moves_keep_score() const override { return false; }
  bool need_target_cache() const override { return true; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override;
  void move(const LocalRow& row, int i, Symbol to) const override;
  std::span<const std::int32_t> neighbours(int, std::int32_t*) const override { return all_; }
  int max_neighbours() const override { return domain_.dim(); }

  const RegressionRows& rows() const { return data_->rows; }
  const BinaryNetworkOptions& options() const { return options_; }
  BinaryNetworkShape network() const { return {rows().features, options_.hidden}; }

  void predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
               ThreadPool& pool) const override;

 private:
  struct Data {
    RegressionRows rows;
    RowBuffer<float> by_feature, y;  // the same, a row per feature, and one row; ends filled with 0
  };
  class Pass;  // over data, for one state
  static std::shared_ptr<const Data> by_columns(RegressionRows rows);
  BinaryNetwork(std::shared_ptr<const Data> data, const BinaryNetworkOptions& options);

  template <class Each>
  void for_each_flipped_logits(const LocalRow& row, int i, Each each) const;

  std::shared_ptr<const Data> data_;
  BinaryNetworkOptions options_;
  Domain domain_;
  std::vector<std::int32_t> all_;  // every coordinate
};

}  // namespace saltus
