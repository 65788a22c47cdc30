#include "saltus/target/rbm.hpp"

#include <algorithm>
#include <numeric>

#include "core/scalar_math.hpp"
#include "ops/gemm.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "target/changes.hpp"

namespace saltus {
namespace {

Rows<float> rows_of(Scratch& scratch, std::size_t slot, int rows, int cols) {
  const int stride = padded(cols);
  return {
      scratch.get<float>(slot, static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride)),
      rows, cols, stride};
}

// Who uses which part of the scratch.
enum Slot : std::size_t { kImage, kActivations, kValues, kProduct, kTerms, kFar, kZeros };

// The map from bits to pre-activations: out = bias + the sum of the weights' rows of the ones.
class Layer {
 public:
  Layer(Rows<const float> weights, Rows<const float> bias) : weights_(weights), bias_(bias[0]) {}

  // Where a row of x is near one whose image is known, or has few ones, the image takes few
  // additions. The other rows share one product. Which it is depends on the states alone.
  void map(Scratch& scratch, Rows<const Symbol> x, const Target::Evaluated& known,
           Rows<float> out) const {
    const int inputs = weights_.rows, limit = few_changes(weights_);
    auto* terms = scratch.get<ops::ScaledRow>(kTerms, static_cast<std::size_t>(limit));
    auto* zeros = scratch.get<Symbol>(kZeros, static_cast<std::size_t>(inputs));
    int* far = scratch.get<int>(kFar, static_cast<std::size_t>(x.rows));
    std::fill_n(zeros, inputs, Symbol{0});
    int count = 0;
    for (int r = 0; r < x.rows; ++r) {
      const float* from = known.target_cache ? known.target_cache[r] : bias_;
      int changed = changes(known.target_cache ? known.x[r] : zeros, x[r], inputs, 1, limit, terms);
      if (changed < 0 && known.target_cache) {
        from = bias_;
        changed = changes(zeros, x[r], inputs, 1, limit, terms);
      }
      if (changed < 0) {
        far[count++] = r;
      } else {
        ops::active().add_rows(weights_.cols, weights_, terms, changed, from, out[r]);
      }
    }
    if (count > 0) multiply(scratch, x, far, count, out);
  }

  // The same for rows without room beyond their end.
  void map_exactly(Scratch& scratch, Rows<const Symbol> x, Rows<float> out) const {
    const Rows<float> image = rows_of(scratch, kImage, x.rows, weights_.cols);
    map(scratch, x, {}, image);
    for (int r = 0; r < x.rows; ++r) std::copy_n(image[r], weights_.cols, out[r]);
  }

 private:
  void multiply(Scratch& scratch, Rows<const Symbol> x, const int* which, int count,
                Rows<float> out) const {
    const Rows<float> values = rows_of(scratch, kValues, x.rows, weights_.rows);
    const Rows<float> product =
        count == x.rows ? out : rows_of(scratch, kProduct, x.rows, weights_.cols);
    for (int k = 0; k < count; ++k) {
      std::copy_n(x[which[k]], weights_.rows, values[k]);
      std::copy_n(bias_, weights_.cols, product[k]);
    }
    ops::multiply_add(count, weights_.cols, weights_.rows, values.data, values.stride,
                      weights_.data, weights_.stride, product.data, product.stride);
    for (int k = 0; count < x.rows && k < count; ++k) {
      std::copy_n(product[k], weights_.cols, out[which[k]]);
    }
  }

  Rows<const float> weights_;
  const float* bias_;
};

}  // namespace

Rbm::Rbm(RbmModel model)
    : model_(std::move(model)),
      domain_(Domain::binary(static_cast<int>(model_.visible_bias.size()))) {
  if (model_.hidden_bias.empty() ||
      model_.weights.size() != model_.visible_bias.size() * model_.hidden_bias.size()) {
    throw DataError("an RBM with " + std::to_string(model_.visible_bias.size()) + " visible and " +
                    std::to_string(model_.hidden_bias.size()) + " hidden units cannot have " +
                    std::to_string(model_.weights.size()) + " weights");
  }
  ops::load_blas();
  by_hidden_ = RowBuffer<float>(hidden(), domain_.dim());
  by_visible_ = RowBuffer<float>(domain_.dim(), hidden());
  visible_row_ = RowBuffer<float>(1, domain_.dim());
  hidden_row_ = RowBuffer<float>(1, hidden());
  derive_single();
  all_.resize(model_.visible_bias.size());
  std::iota(all_.begin(), all_.end(), 0);
}

void Rbm::set_parameters(std::span<const float> weights, std::span<const float> visible_bias,
                         std::span<const float> hidden_bias) {
  if (weights.size() != model_.weights.size() ||
      visible_bias.size() != model_.visible_bias.size() ||
      hidden_bias.size() != model_.hidden_bias.size()) {
    throw DataError("an RBM cannot change its number of units");
  }
  std::copy(weights.begin(), weights.end(), model_.weights.begin());
  std::copy(visible_bias.begin(), visible_bias.end(), model_.visible_bias.begin());
  std::copy(hidden_bias.begin(), hidden_bias.end(), model_.hidden_bias.begin());
  derive_single();
}

// The transpose takes a cache line's worth of hidden units at a time.
void Rbm::derive_single() {
  constexpr int kTogether = 16;
  const int visible = domain_.dim();
  const auto row = [&](int h) {
    return model_.weights.data() + static_cast<std::ptrdiff_t>(h) * visible;
  };
  for (int h = 0; h < hidden(); ++h) std::copy_n(row(h), visible, by_hidden_.view()[h]);
  for (int begin = 0; begin < hidden(); begin += kTogether) {
    const int end = std::min(hidden(), begin + kTogether);
    for (int i = 0; i < visible; ++i) {
      float* to = by_visible_.view()[i];
      for (int h = begin; h < end; ++h) to[h] = by_hidden_.view()[h][i];
    }
  }
  std::copy(model_.visible_bias.begin(), model_.visible_bias.end(), visible_row_.view()[0]);
  std::copy(model_.hidden_bias.begin(), model_.hidden_bias.end(), hidden_row_.view()[0]);
}

void Rbm::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_near(at, {}, x, logp, score, {});
}

void Rbm::evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                             Rows<float> cache) const {
  evaluate_near(at, {}, x, logp, score, cache);
}

void Rbm::evaluate_near(const At& at, const Evaluated& known, Rows<const Symbol> y, double* logp,
                        Rows<float> score, Rows<float> cache) const {
  const Rows<float> z = cache ? cache : rows_of(at.scratch, kImage, y.rows, hidden());
  Layer(by_visible_.view(), hidden_row_.view()).map(at.scratch, y, known, z);
  if (logp || score) finish(at, z, logp, score);
  for (int r = 0; logp && r < y.rows; ++r) {
    logp[r] +=
        ops::active().weigh_values(domain_.dim(), y[r], 0, 1, nullptr, model_.visible_bias.data()) +
        model_.constant;
  }
}

void Rbm::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                           Rows<float> gradient) const {
  const Rows<float> z = rows_of(at.scratch, kImage, v.rows, hidden());
  for (int r = 0; r < v.rows; ++r) std::copy_n(hidden_row_.view()[0], hidden(), z[r]);
  ops::multiply_add(v.rows, hidden(), domain_.dim(), v.data, v.stride, by_visible_.view().data,
                    by_visible_.view().stride, z.data, z.stride);
  finish(at, z, logp, gradient);
  for (int r = 0; logp && r < v.rows; ++r) {
    logp[r] += model_.constant;
    for (std::size_t i = 0; i < model_.visible_bias.size(); ++i) {
      logp[r] += model_.visible_bias[i] * double{v[r][i]};
    }
  }
}

void Rbm::finish(const At& at, Rows<const float> z, double* logp, Rows<float> score) const {
  const Rows<float> on = score ? rows_of(at.scratch, kActivations, z.rows, hidden())
                               : Rows<float>{nullptr, z.rows, 0, 0};
  for (int r = 0; r < z.rows; ++r) {
    const double sum =
        ops::active().activate(hidden(), z[r], score ? on[r] : nullptr, logp != nullptr);
    if (logp) logp[r] = sum;
    if (score) std::copy_n(visible_row_.view()[0], domain_.dim(), score[r]);
  }
  if (!score) return;
  ops::multiply_add(z.rows, domain_.dim(), hidden(), on.data, on.stride, by_hidden_.view().data,
                    by_hidden_.view().stride, score.data, score.stride);
}

void Rbm::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const float* weights = by_visible_.view()[i];
  for (int m = 0; m < count; ++m) {
    const int change = first + m - row.x[i];
    out[m] = change == 0 ? 0
                         : change * model_.visible_bias[static_cast<std::size_t>(i)] +
                               ops::active().softplus_change(hidden(), row.target_cache, weights,
                                                             static_cast<float>(change));
  }
}

void Rbm::move(const LocalRow& row, int i, Symbol to) const {
  const ops::ScaledRow term{i, static_cast<float>(to - row.x[i])};
  row.x[i] = to;
  if (row.target_cache) {
    ops::active().add_rows(hidden(), by_visible_.view(), &term, 1, row.target_cache,
                           row.target_cache);
  }
}

void Rbm::hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const {
  Layer(by_visible_.view(), hidden_row_.view()).map_exactly(at.scratch, x, out);
}

void Rbm::visible_log_odds(const At& at, Rows<const Symbol> hidden_rows, Rows<float> out) const {
  Layer(by_hidden_.view(), visible_row_.view()).map_exactly(at.scratch, hidden_rows, out);
}

void Rbm::hidden_log_odds_exact(const Symbol* x, double* out) const {
  const std::size_t visible = model_.visible_bias.size();
  for (std::size_t h = 0; h < model_.hidden_bias.size(); ++h) {
    out[h] = model_.hidden_bias[h];
    for (std::size_t i = 0; i < visible; ++i) out[h] += model_.weights[h * visible + i] * x[i];
  }
}

void Rbm::visible_log_odds_exact(const Symbol* hidden_row, double* out) const {
  const std::size_t visible = model_.visible_bias.size();
  for (std::size_t i = 0; i < visible; ++i) {
    out[i] = model_.visible_bias[i];
    for (std::size_t h = 0; h < model_.hidden_bias.size(); ++h) {
      out[i] += model_.weights[h * visible + i] * hidden_row[h];
    }
  }
}

void Rbm::evaluate_exact(const At&, Rows<const Symbol> x, double* logp, Rows<double> score) const {
  const std::size_t visible = model_.visible_bias.size();
  for (int r = 0; r < x.rows; ++r) {
    double sum = model_.constant;
    for (std::size_t i = 0; i < visible; ++i) {
      sum += model_.visible_bias[i] * x[r][i];
      if (score) score[r][i] = model_.visible_bias[i];
    }
    for (std::size_t h = 0; h < model_.hidden_bias.size(); ++h) {
      const double* w = model_.weights.data() + h * visible;
      double z = model_.hidden_bias[h];
      for (std::size_t i = 0; i < visible; ++i) z += w[i] * x[r][i];
      sum += softplus(z);
      for (std::size_t i = 0; score && i < visible; ++i) score[r][i] += sigmoid(z) * w[i];
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus
