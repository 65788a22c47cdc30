#include "sampler/constrained/flip_kernel.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"

namespace saltus {

std::string FlipKernel::missing(const Target& target) const {
  if (!target.constraint()) return "a constraint";
  return Sampler::missing(target);
}

void FlipKernel::step(const Target& target, Tile& tile, Workspace& work,
                      std::span<StepInfo> info) const {
  const auto rows = static_cast<std::size_t>(tile.rows()),
             dim = static_cast<std::size_t>(tile.x.cols);
  Scratch& room = work.sampler_scratch;
  const std::span d(room.get<double>(0, dim), dim);
  auto* flips = room.get<std::int32_t>(6, rows * dim);
  auto* log_q = room.get<double>(7, rows);
  Tile& y = work.proposal;
  for (std::size_t r = 0; r < rows; ++r) {
    const int row = static_cast<int>(r);
    estimated_changes(target.domain(), tile.x[row], tile.score[row], d);
    std::uint32_t count = 0;
    log_q[r] = propose(tile.x[row], d, work.stream(tile, row, Purpose::propose), room,
                       flips + r * dim, count);
    std::copy_n(tile.x[row], tile.x.cols, y.x[row]);
    for (std::uint32_t k = 0; k < count; ++k) {
      Symbol& level = y.x[row][flips[r * dim + k]];
      level = static_cast<Symbol>(1 - level);
    }
    info[r] = {1.0, count, count, true, false};
  }
  evaluate_proposals(target, tile, work, true);
  for (std::size_t r = 0; r < rows; ++r) {
    const int row = static_cast<int>(r);
    estimated_changes(target.domain(), y.x[row], y.score[row], d);
    const double back = log_back(y.x[row], d, {flips + r * dim, info[r].proposed}, room);
    test_proposal(y.logp[row] - tile.logp[row] + back - log_q[r], tile, row, work, info[r]);
  }
  ++tile.step;
}

void add_tested(const StateTable& table, std::size_t from, std::size_t to, double log_q,
                double log_back, double* row, double& acceptance) {
  if (!std::isfinite(table.logp(to))) return;
  const double ratio = table.logp(to) - table.logp(from) + log_back - log_q;
  const double p = std::exp(log_q) * std::min(1.0, std::exp(ratio));
  if (!(p > 0)) return;
  acceptance += p;
  row[to] += p;
}

void add_stays(const StateTable& table, Rows<double> matrix, std::span<double> acceptance) {
  for (std::size_t s = 0; s < table.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    if (!std::isfinite(table.logp(s))) {
      std::fill_n(row, table.size(), 0.0);
      row[s] = acceptance[s] = 1;
      continue;
    }
    double sum = 0;
    for (std::size_t t = 0; t < table.size(); ++t) sum += row[t];
    row[s] += std::max(0.0, 1 - sum);
  }
}

std::vector<std::int32_t> flips_between(const StateTable& table, std::size_t from, std::size_t to) {
  const Symbol *x = table.state(from), *y = table.state(to);
  std::vector<std::int32_t> flips;
  for (const Symbol level : {Symbol{1}, Symbol{0}}) {
    for (int i = 0; i < table.domain().dim(); ++i) {
      if (x[i] == level && y[i] != level) flips.push_back(i);
    }
  }
  return flips;
}

}  // namespace saltus
