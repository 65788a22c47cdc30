#include "torch/network_target.hpp"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "torch/libtorch.hpp"

namespace saltus {
namespace {

std::vector<std::int64_t> input_shape(const Domain& domain, int rows) {
  if (domain.kind() == Domain::Kind::ordered) return {rows, domain.dim()};
  return {rows, domain.dim(), domain.uniform_levels()};
}

void copy_score(const at::Tensor& gradient, Rows<float> score) {
  const at::Tensor g = gradient.to(at::kCPU, at::kFloat).contiguous();
  const float* from = g.data_ptr<float>();
  for (int r = 0; r < score.rows; ++r, from += score.cols) {
    std::copy_n(from, score.cols, score[r]);
  }
}

}  // namespace

Rows<const float> write_values(const Domain& domain, Rows<const Symbol> x, float* out) {
  const int size = domain.score_size();
  const Rows<float> v{out, x.rows, size, size};
  if (domain.kind() == Domain::Kind::categorical) {
    std::fill_n(out, static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(size), 0.0f);
  }
  const auto first = static_cast<float>(domain.first_value()),
             spacing = static_cast<float>(domain.spacing());
  for (int r = 0; r < x.rows; ++r) {
    const Symbol* from = x[r];
    float* to = v[r];
    if (domain.kind() == Domain::Kind::categorical) {
      for (int i = 0; i < domain.dim(); ++i) to[domain.score_begin(i) + from[i]] = 1;
    } else {
      for (int i = 0; i < domain.dim(); ++i) to[i] = first + spacing * from[i];
    }
  }
  return v;
}

void NetworkTarget::compute(Rows<const float> v, double* logp, Rows<float> score) const {
  use_one_thread();
  // The tensor is a view of `v`, which nobody writes to.
  at::Tensor x =
      at::from_blob(const_cast<float*>(v.data), input_shape(domain_, v.rows), at::kFloat);
  at::Tensor out;
  if (!score) {
    const c10::InferenceMode no_gradients;
    out = network(x.to(device_));
  } else {
    const at::AutoGradMode gradients(true);
    x = x.to(device_).requires_grad_(true);
    out = network(x);
    const at::Tensor sum = out.sum();
    copy_score(torch::autograd::grad({sum}, {x})[0], score);
    out = out.detach();
  }
  if (logp) {
    const at::Tensor values = out.to(at::kCPU, at::kDouble).contiguous();
    // A script's nan marks a state that is not to be reached, as -inf does.
    std::transform(
        values.data_ptr<double>(), values.data_ptr<double>() + v.rows, logp,
        [](double l) { return std::isnan(l) ? -std::numeric_limits<double>::infinity() : l; });
  }
  add_base(v, logp, score);
}

void NetworkTarget::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                             Rows<float> score) const {
  const std::size_t size =
      static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(domain_.score_size());
  const Rows<const float> v = write_values(domain_, x, at.scratch.get<float>(0, size));
  or_failure(origin(), [&] { compute(v, logp, score); });
}

void NetworkTarget::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                     Rows<float> gradient) const {
  const std::size_t cols = static_cast<std::size_t>(v.cols);
  float* const packed = at.scratch.get<float>(0, static_cast<std::size_t>(v.rows) * cols);
  for (int r = 0; r < v.rows; ++r) {
    std::copy_n(v[r], cols, packed + static_cast<std::size_t>(r) * cols);
  }
  or_failure(origin(), [&] { compute({packed, v.rows, v.cols, v.cols}, logp, gradient); });
}

}  // namespace saltus
