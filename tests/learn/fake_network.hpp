// A network for tests of learning: log p(x) = sum_{i<j} A_ij x_i x_j + b'x + log of the base, with
// exact gradients, Adam in single precision and an average. All in plain C++.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/learn/adam.hpp"
#include "saltus/learn/learning_network.hpp"

namespace saltus {

class FakeEnergy final : public Target {
 public:
  FakeEnergy(std::vector<double> mean, std::vector<float> at)
      : domain_(Domain::binary(static_cast<int>(mean.size()))),
        mean_(std::move(mean)),
        parameters(std::move(at)) {}

  static std::size_t size(std::size_t dim) { return dim * (dim - 1) / 2 + dim; }

  std::string name() const override { return "fake"; }
  const Domain& domain() const override { return domain_; }
  int preferred_tile() const override { return 4; }

  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override {
    const int n = domain_.dim();
    for (int r = 0; r < x.rows; ++r) {
      double sum = 0;
      for (int i = 0; i < n; ++i) {
        const double m = mean_[static_cast<std::size_t>(i)];
        double field = double{bias(i)};
        for (int j = 0; j < n; ++j) {
          if (j != i && x[r][j]) field += double{pair(i, j)};
          if (j < i && x[r][j] && x[r][i]) sum += double{pair(i, j)};
        }
        sum += x[r][i] ? double{bias(i)} + std::log(m) : std::log1p(-m);
        if (score) score[r][i] = static_cast<float>(field + std::log(m) - std::log1p(-m));
      }
      if (logp) logp[r] = sum;
    }
  }

  // What each parameter is multiplied by.
  void add_statistics(const Symbol* x, double weight, std::vector<float>& sums) const {
    const int n = domain_.dim();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        if (x[i] && x[j]) sums[place(i, j)] += static_cast<float>(weight);
      }
      if (x[i]) sums[place_of_bias(i)] += static_cast<float>(weight);
    }
  }

 private:
  std::size_t place(int i, int j) const {
    const auto high = static_cast<std::size_t>(std::max(i, j));
    return high * (high - 1) / 2 + static_cast<std::size_t>(std::min(i, j));
  }
  std::size_t place_of_bias(int i) const {
    const auto n = static_cast<std::size_t>(domain_.dim());
    return n * (n - 1) / 2 + static_cast<std::size_t>(i);
  }
  float pair(int i, int j) const { return parameters[place(i, j)]; }
  float bias(int i) const { return parameters[place_of_bias(i)]; }

  Domain domain_;
  std::vector<double> mean_;

 public:
  std::vector<float> parameters;
};

class FakeNetwork final : public LearningNetwork {
 public:
  explicit FakeNetwork(const std::vector<double>& mean, float decay = 0.99f)
      : decay_(decay),
        target_(mean, std::vector<float>(FakeEnergy::size(mean.size()))),
        averaged_(target_),
        adam_(target_.parameters.size(), {}) {}

  const Target& target() const override { return target_; }
  const Target& averaged() const override { return averaged_; }

  Means update(Rows<const Symbol> data, Rows<const Symbol> samples, double rate) override {
    rates.push_back(rate);
    last_data.clear();
    Means means;
    std::vector<float> gradient(target_.parameters.size());
    for (const bool of_data : {true, false}) {
      const Rows<const Symbol> rows = of_data ? data : samples;
      for (int r = 0; r < rows.rows; ++r) {
        (of_data ? means.data : means.samples) += logp_of(target_, rows[r]) / rows.rows;
        target_.add_statistics(rows[r], (of_data ? -1.0 : 1.0) / rows.rows, gradient);
        if (of_data) last_data.insert(last_data.end(), rows[r], rows[r] + rows.cols);
      }
    }
    // Adam's step is proportional to its rate.
    std::vector<float> moved = target_.parameters;
    adam_.step(moved, gradient);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      float& p = target_.parameters[i];
      p += static_cast<float>(rate / AdamOptions{}.rate) * (moved[i] - p);
      averaged_.parameters[i] = decay_ * averaged_.parameters[i] + (1 - decay_) * p;
    }
    if (break_after > 0 && rates.size() >= break_after) {
      target_.parameters[0] = std::numeric_limits<float>::quiet_NaN();
      for (float& p : target_.parameters) p = target_.parameters[0];
    }
    return means;
  }

  std::vector<float> parameters() const override { return target_.parameters; }
  std::vector<float> averaged_parameters() const override { return averaged_.parameters; }
  void set_averaged(float value) {
    for (float& p : averaged_.parameters) p = value;
  }

  void save(ByteWriter& out) const override {
    out.put_array(std::span<const float>(target_.parameters));
    out.put_array(std::span<const float>(averaged_.parameters));
    adam_.save(out);
  }
  void restore(ByteReader& in) override {
    in.get_array(std::span(target_.parameters));
    in.get_array(std::span(averaged_.parameters));
    adam_.restore(in);
  }

  std::vector<double> rates;      // of all updates
  std::vector<Symbol> last_data;  // the rows of the last update
  std::size_t break_after = 0;    // so many updates the parameters are no numbers any more

 private:
  float decay_;
  FakeEnergy target_, averaged_;
  Adam adam_;
};

}  // namespace saltus
