#include "sampler/informed/surrogate.hpp"

#include <cmath>
#include <numbers>

#include "saltus/core/error.hpp"

namespace saltus {

// Box & Muller (1958), twice.
std::array<double, 4> normal_block(const Stream& stream, std::uint32_t block) {
  const PhiloxBlock word = stream.block(block);
  const auto uniform = [&](std::size_t w) { return (word[w] + 0.5) * 0x1p-32; };
  std::array<double, 4> normal{};
  for (std::size_t pair = 0; pair < 4; pair += 2) {
    const double radius = std::sqrt(-2 * std::log(uniform(pair)));
    const double angle = 2 * std::numbers::pi * uniform(pair + 1);
    normal[pair] = radius * std::cos(angle);
    normal[pair + 1] = radius * std::sin(angle);
  }
  return normal;
}

void surrogate(const Target& target, double temperature, Rows<const float> z, std::uint64_t step,
               Workspace& work, double* logp, Rows<float> gradient) {
  const int dim = z.cols, stride = padded(dim);
  const std::size_t room = static_cast<std::size_t>(z.rows) * static_cast<std::size_t>(stride);
  const Rows<float> v{work.sampler_scratch.get<float>(5, room), z.rows, dim, stride};
  const Rows<float> slope{work.sampler_scratch.get<float>(6, room), z.rows, dim, stride};  // dv/dz
  const auto first = static_cast<float>(target.domain().first_value());
  const auto spacing = static_cast<float>(target.domain().spacing());
  const auto t = static_cast<float>(temperature);
  for (int r = 0; r < z.rows; ++r) {
    for (int i = 0; i < dim; ++i) {
      const float u = z[r][i] / t, e = std::exp(-std::abs(u));
      v[r][i] = first + spacing * ((u >= 0 ? 1.0f : e) / (1.0f + e));
      slope[r][i] = spacing / t * e / ((1.0f + e) * (1.0f + e));
    }
  }
  target.relaxation()->evaluate_relaxed(work.at(step), v, logp, gradient);
  for (int r = 0; r < z.rows; ++r) {
    for (int i = 0; i < dim; ++i) gradient[r][i] = slope[r][i] * gradient[r][i] - z[r][i];
  }
}

void start_relaxed(const Tile& tile, std::uint64_t seed, Rows<float> z) {
  for (int r = 0; r < tile.rows(); ++r) {
    const Stream stream(seed, tile.first_chain + static_cast<std::uint32_t>(r), tile.step,
                        Purpose::level);
    std::array<double, 4> normal{};
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(z.cols); ++i) {
      if (i % 4 == 0) normal = normal_block(stream, i / 4);
      const double distance = std::abs(normal[i % 4]);
      z[r][i] = static_cast<float>(tile.x[r][i] ? distance : -distance);
    }
  }
}

std::uint32_t threshold(const float* z, int dim, const Symbol* from, Symbol* to) {
  std::uint32_t different = 0;
  for (int i = 0; i < dim; ++i) {
    const Symbol level = z[i] > 0;
    different += level != from[i];
    to[i] = level;
  }
  return different;
}

void check_temperature(double temperature) {
  if (temperature >= 1e-6 && temperature <= 1e6) return;
  throw UsageError("temperature is " + std::to_string(temperature) +
                   "; it must be between 1e-6 and 1e6");
}

std::string missing_for_relaxed(const Target& target) {
  if (!target.domain().two_level()) return "coordinates with two levels";
  if (!target.relaxation()) return "values between the levels (a relaxation)";
  return {};
}

}  // namespace saltus
