#include "saltus/sampler/hamming_ball.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/gibbs/hamming_ball_draw.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus {
namespace {

Scan scan_of(const Domain& domain, int block) {
  return Scan(Scan::Kind::permutation, domain.dim(), block);
}

std::unique_ptr<Sampler> make_hamming_ball(const Target& target, const Settings& settings) {
  return std::make_unique<HammingBall>(target.domain(),
                                       integer_setting(settings, "block").value_or(10),
                                       integer_setting(settings, "radius").value_or(1));
}

}  // namespace

HammingBall::HammingBall(const Domain& domain, int block, int radius)
    : block_(std::min(block, domain.dim())), radius_(std::min(radius, block_)) {
  if (block < 1 || radius < 1) throw UsageError("block and radius must be at least 1");
  if (domain.unbounded()) return;  // refused by `missing`
  const std::optional<int> largest = largest_ball(domain, block_, radius_);
  if (!largest) {
    throw UsageError("a Hamming ball of radius " + std::to_string(radius_) + " over a block of " +
                     std::to_string(block_) + " coordinates has more than " +
                     std::to_string(kMostInBall) + " states; take a smaller block or radius");
  }
  largest_ = *largest;
}

std::vector<Parameter> HammingBall::parameters() const {
  return {{"block", std::int64_t{block_}}, {"radius", std::int64_t{radius_}}};
}

std::string HammingBall::missing(const Target& target) const {
  return missing_for_blocks(target);
}

Sampler::Needs HammingBall::needs(const Target& target) const {
  return BallDraws::needs(target);
}

bool HammingBall::accumulates_rounding(const Target& target) const {
  return BallDraws::accumulates_rounding(target);
}

void HammingBall::step(const Target& target, Tile& tile, Workspace& work,
                       std::span<StepInfo> info) const {
  BallDraws draws(target, tile, work, info, block_, radius_, largest_);
  const auto block =
      scan_of(target.domain(), block_).block(work.seed, tile.step, work.sampler_scratch);
  const Blocks blocks{block.data(), static_cast<int>(block.size()), 0};
  draws.jump(blocks);
  draws.draw(blocks, 0);
  draws.finish(static_cast<std::uint64_t>(std::max(256, target.domain().dim())));
}

int HammingBall::phases(const Domain& domain) const {
  return scan_of(domain, block_).blocks();
}

// T(x, y) = sum over u in ball(x) and in ball(y) of  1 / |ball|  pi(y) / pi(ball(u)).
void HammingBall::transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                                    std::span<double> acceptance) const {
  const int dim = table.domain().dim();
  Scratch scratch;
  std::vector<bool> in_block(static_cast<std::size_t>(dim));
  for (std::int32_t i : scan_of(table.domain(), block_).block(when.seed, when.step, scratch)) {
    in_block[static_cast<std::size_t>(i)] = true;
  }
  const auto near = [&](std::size_t s, std::size_t t) {
    int differ = 0;
    for (int i = 0; i < dim; ++i) {
      if (table.state(s)[i] == table.state(t)[i]) continue;
      if (!in_block[static_cast<std::size_t>(i)]) return false;
      ++differ;
    }
    return differ <= radius_;
  };
  const std::size_t states = table.size();
  for (std::size_t x = 0; x < states; ++x) std::fill_n(matrix[static_cast<int>(x)], states, 0.0);
  for (std::size_t u = 0; u < states; ++u) {
    std::vector<std::size_t> ball;
    for (std::size_t x = 0; x < states; ++x) {
      if (near(u, x)) ball.push_back(x);
    }
    double top = -INFINITY, sum = 0;
    for (std::size_t y : ball) top = std::max(top, table.logp(y));
    for (std::size_t y : ball) sum += std::exp(table.logp(y) - top);
    const double to_u = 1.0 / static_cast<double>(ball.size());
    if (sum == 0 || !std::isfinite(top)) {  // no state of positive probability is near: stays
      for (std::size_t x : ball) matrix[static_cast<int>(x)][x] += to_u;
      continue;
    }
    for (std::size_t x : ball) {
      for (std::size_t y : ball) {
        matrix[static_cast<int>(x)][y] += to_u * std::exp(table.logp(y) - top) / sum;
      }
    }
  }
  std::fill(acceptance.begin(), acceptance.end(), 1.0);
}

SamplerEntry hamming_ball_entry() {
  return {"hamming_ball",
          "draws a block of coordinates from a Hamming ball around it: exact",
          {"block", "radius"},
          make_hamming_ball};
}

}  // namespace saltus
