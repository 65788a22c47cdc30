// What the fuzz targets of problem files ask of a model that was read.
#pragma once

#include <cmath>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "saltus/core/error.hpp"
#include "saltus/model/models.hpp"

namespace saltus::fuzz {

// The energy of the levels as they are listed, summed without a target.
inline double energy(const PairProblem& p, const Symbol* x) {
  const auto value = [&](int i) { return p.spins ? 2.0 * x[i] - 1 : static_cast<double>(x[i]); };
  double sum = p.offset;
  for (int i = 0; i < p.size(); ++i) sum += p.linear[static_cast<std::size_t>(i)] * value(i);
  for (const Coupling& c : p.pairs) sum += c.weight * value(c.i) * value(c.j);
  return sum;
}

inline void check(const PairProblem& p, double logp, const Symbol* x) {
  double size = 1 + std::abs(p.offset);
  for (const double v : p.linear) size += std::abs(v);
  for (const Coupling& c : p.pairs) {
    if (c.i < 0 || c.j < 0 || c.i >= p.size() || c.j >= p.size() || c.i == c.j) std::abort();
    size += std::abs(c.weight);
  }
  if (size > 1e30) return;
  if (std::abs(logp + energy(p, x)) > 1e-9 * size) std::abort();
  if (std::abs(energy(as_bits(p), x) - energy(p, x)) > 1e-9 * size) std::abort();
  if (std::abs(energy(as_spins(p), x) - energy(p, x)) > 1e-9 * size) std::abort();
}

// Reads: a model that can be evaluated, or a refusal.
inline void read(const ProblemFormat& format, std::span<const std::byte> bytes,
                 const ProblemOptions& options) {
  const ByteSource source = memory_bytes(bytes, "fuzz");
  try {
    const Model model = format.read(source, options);
    const auto& labels = labels_of(model.value).coordinates;
    const auto* graph = std::get_if<FactorsModel>(&model.value);
    if (graph && graph->levels.size() > 4096) return;
    const auto pairs = pair_problem_of(model.value);
    if (pairs && pairs->size() > 4096) return;
    const std::unique_ptr<Target> target = make_target(model.value);
    const int n = target->domain().dim();
    if (n > 4096 || (!labels.empty() && static_cast<int>(labels.size()) != n)) {
      if (n <= 4096) std::abort();
      return;
    }
    const RowBuffer<Symbol> x(1, n);
    for (int i = 0; i < n; ++i) x.view()[0][i] = i % 3 == 0 && target->domain().levels(i) > 1;
    const double logp = logp_of(*target, x.view()[0]);
    if (pairs) check(*pairs, logp, x.view()[0]);
  } catch (const DataError&) {
  } catch (const UsageError&) {
  }
}

inline const ProblemFormat& named(std::string_view name) {
  for (const ProblemFormat& format : problem_formats()) {
    if (format.name == name) return format;
  }
  std::abort();
}

}  // namespace saltus::fuzz
