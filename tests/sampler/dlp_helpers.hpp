// Short ways to make samplers and exact results in tests.
#pragma once

#include <cmath>
#include <vector>

#include "saltus/diagnose/conformance.hpp"
#include "saltus/sampler/dlp.hpp"

namespace saltus {

inline Dlp dlp(const Domain& domain, double step_size, bool adjust,
               DlpOptions::Distance distance = DlpOptions::Distance::index, int window = 0,
               std::vector<double> precondition = {}) {
  DlpOptions options;
  options.step_size = step_size;
  options.adjust = adjust;
  options.distance = distance;
  options.window = window;
  options.precondition = std::move(precondition);
  return Dlp(domain, options);
}

struct Matrix {
  RowBuffer<double> buffer;
  std::vector<double> acceptance;
  Matrix(const Sampler& sampler, const StateTable& table)
      : buffer(static_cast<int>(table.size()), static_cast<int>(table.size())),
        acceptance(table.size()) {
    sampler.enumerable()->transition_matrix(table, {}, buffer.view(), acceptance);
  }
  double operator()(int x, int y) const { return buffer.view()[x][y]; }
  int size() const { return buffer.view().rows; }
};

inline double sigmoid_of(double z) {
  return 1 / (1 + std::exp(-z));
}

}  // namespace saltus
