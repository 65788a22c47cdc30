#include "saltus/sampler/composed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/state_table.hpp"

namespace saltus {

Mix::Mix(Parts parts, std::vector<double> weights)
    : Composed(std::move(parts)), probabilities_(std::move(weights)) {
  if (probabilities_.size() != size()) {
    throw UsageError("a mix of " + std::to_string(size()) + " samplers has " +
                     std::to_string(probabilities_.size()) + " weights");
  }
  double sum = 0;
  for (const double w : probabilities_) {
    if (!(w > 0 && std::isfinite(w))) {
      throw UsageError("the weights of a mix must be positive numbers");
    }
    sum += w;
  }
  for (double& w : probabilities_) w /= sum;
}

std::string Mix::name() const {
  std::string text;
  for (const auto& part : parts()) text += (text.empty() ? "mix of " : ", ") + part->name();
  return text;
}

std::vector<Parameter> Mix::parameters() const {
  std::vector<Parameter> list = Composed::parameters();
  for (std::size_t p = 0; p < size(); ++p) {
    list.push_back({"weight" + std::to_string(p + 1), probabilities_[p]});
  }
  return list;
}

std::size_t Mix::choose(double u) const {
  std::size_t p = 0;
  for (; p + 1 < size() && u >= probabilities_[p]; ++p) u -= probabilities_[p];
  return p;
}

namespace {

// Rows first, ..., end - 1 as a tile of their own.
Tile rows_of(const Tile& tile, int first, int end) {
  const auto part = [&](auto rows) {
    if (rows.data) rows.data = rows[first];
    rows.rows = end - first;
    return rows;
  };
  Tile some = tile;
  some.x = part(tile.x), some.score = part(tile.score), some.target_cache = part(tile.target_cache);
  some.logp = tile.logp + first;
  some.first_chain += static_cast<std::uint32_t>(first);
  some.first_slot += static_cast<std::uint32_t>(first);
  return some;
}

// A part may have swapped its rows for those of the proposals: brings them back.
void bring_back(const Tile& tile, int first, Tile& some, Tile& y) {
  const auto move = [&](Rows<float> to, Rows<float>& from, Rows<float>& spare) {
    if (!to.data || from.data == to[first]) return;
    for (int r = 0; r < from.rows; ++r) std::copy_n(from[r], from.cols, to[first + r]);
    spare.data = std::exchange(from.data, to[first]);
  };
  move(tile.score, some.score, y.score);
  move(tile.target_cache, some.target_cache, y.target_cache);
  if (some.x.data != tile.x[first]) {
    for (int r = 0; r < some.rows(); ++r) std::copy_n(some.x[r], some.x.cols, tile.x[first + r]);
    y.x.data = std::exchange(some.x.data, tile.x[first]);
  }
  if (some.logp != tile.logp + first) {
    std::copy_n(some.logp, some.rows(), tile.logp + first);
    y.logp = std::exchange(some.logp, tile.logp + first);
  }
}

}  // namespace

void Mix::step(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const auto part_of = [&](int r) { return choose(work.stream(tile, r, Purpose::part).uniform()); };
  const Tile before = tile;
  bool logp = true, score = true, kept = true;
  for (int first = 0, end = 1; first < before.rows(); first = end++) {
    const std::size_t part = part_of(first);
    while (end < before.rows() && part_of(end) == part) ++end;
    Tile some = rows_of(before, first, end);
    step_part(part, before.step, target, some, work,
              info.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first)));
    bring_back(before, first, some, work.proposal);
    logp = logp && some.logp_current;
    score = score && some.score_current;
    kept = kept && some.target_cache_current;
  }
  tile.logp_current = logp, tile.score_current = score, tile.target_cache_current = kept;
  ++tile.step;
}

void Mix::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                            std::span<double> acceptance) const {
  const RowBuffer<double> one(matrix.rows, matrix.cols);
  std::vector<double> accepted(acceptance.size());
  std::fill(acceptance.begin(), acceptance.end(), 0.0);
  for (int x = 0; x < matrix.rows; ++x) std::fill_n(matrix[x], matrix.cols, 0.0);
  for (std::size_t p = 0; p < size(); ++p) {
    matrix_of_part(p, table, when, one.view(), accepted);
    for (int x = 0; x < matrix.rows; ++x) {
      for (int y = 0; y < matrix.cols; ++y) matrix[x][y] += probabilities_[p] * one.view()[x][y];
      acceptance[static_cast<std::size_t>(x)] +=
          probabilities_[p] * accepted[static_cast<std::size_t>(x)];
    }
  }
}

}  // namespace saltus
