#include "saltus/sampler/rmala.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/informed/surrogate.hpp"

namespace saltus {
namespace {

// The gradient is that of a surrogate, which says little about far moves: as for a random walk,
// bold proposals pay (docs/samplers.md has the measurement).
constexpr double kAcceptance = 0.234;
constexpr double kStartStep = 0.001, kSmallestStep = 1e-10, kLargestStep = 10;

// The tuned scale: a proposal moves by sqrt(2 eps), whose logarithm is a quarter of this.
double scale_of_step(double step_size) {
  return 2 * std::log(step_size);
}
double step_of_scale(double scale) {
  return std::exp(scale / 2);
}

// Rows of memory with room for passes over whole blocks.
Rows<float> padded_rows(Workspace& work, std::size_t slot, int rows, int cols) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(padded(cols));
  return {work.sampler_scratch.get<float>(slot, count), rows, cols, padded(cols)};
}

// log of p_t(z') q(z | z') / (p_t(z) q(z' | z)) without the two U. With m = z' - z,
//   |m - eps g|^2 - |m + eps g'|^2 = -2 eps m (g + g') + eps^2 (g^2 - g'^2)
// in each coordinate, which goes over 4 eps into the ratio.
double log_ratio_of_moves(int dim, double eps, const float* z, const float* g, const float* z_new,
                          const float* g_new) {
  double sum = 0;
  for (int i = 0; i < dim; ++i) {
    const double a = double{z[i]}, b = double{z_new[i]}, ga = double{g[i]}, gb = double{g_new[i]};
    sum += (b - a) * (a + b + ga + gb) / 2 + eps * (gb - ga) * (gb + ga) / 4;
  }
  return -sum;
}

}  // namespace

Rmala::Rmala(RmalaOptions options) : options_(options) {
  if (options_.step_size && !(*options_.step_size > 0 && std::isfinite(*options_.step_size))) {
    throw UsageError("step_size is " + std::to_string(*options_.step_size) +
                     "; it must be a positive number");
  }
  check_temperature(options_.temperature);
  if (!options_.adapt) options_.adapt = !options_.step_size;
  if (!*options_.adapt && !options_.step_size) throw UsageError("adapt=false needs a step_size");
  step_size_ = options_.step_size.value_or(kStartStep);
}

std::string Rmala::missing(const Target& target) const {
  std::string lacks = Sampler::missing(target);
  return lacks.empty() ? missing_for_relaxed(target) : lacks;
}

std::vector<Parameter> Rmala::parameters() const {
  return {
      {"step_size", step_size_}, {"adapt", *options_.adapt}, {"temperature", options_.temperature}};
}

std::vector<Tuning> Rmala::tuning() const {
  const double low = scale_of_step(kSmallestStep), high = scale_of_step(kLargestStep);
  return {{std::clamp(scale_of_step(step_size_), low, high), low, high, kAcceptance}};
}

std::unique_ptr<Sampler> Rmala::tuned(std::span<const double> value, Phase) const {
  RmalaOptions options = options_;
  options.step_size = step_of_scale(value[0]);
  return std::make_unique<Rmala>(options);
}

void Rmala::start(const Target& target, Tile& tile, Workspace& work) const {
  const int rows = tile.rows(), dim = tile.x.cols;
  const Rows<float> z{tile.sampler_cache.data, rows, dim, tile.sampler_cache.stride};
  start_relaxed(tile, work.seed, z);
  const Rows<float> gradient = padded_rows(work, 1, rows, dim);
  surrogate(target, options_.temperature, z, tile.step, work, nullptr, gradient);
  for (int r = 0; r < rows; ++r) std::copy_n(gradient[r], dim, tile.sampler_cache[r] + dim);
}

// Fills in z' and, in work.proposal, 1[z' > 0].
void Rmala::propose(Tile& tile, Workspace& work, Rows<float> z, std::span<StepInfo> info) const {
  const int dim = z.cols;
  const double spread = std::sqrt(2 * step_size_);
  for (int r = 0; r < z.rows; ++r) {
    const float *here = tile.sampler_cache[r], *gradient = here + dim;
    const Stream stream = work.stream(tile, r, Purpose::propose);
    std::array<double, 4> normal{};
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(dim); ++i) {
      if (i % 4 == 0) normal = normal_block(stream, i / 4);
      z[r][i] = static_cast<float>(double{here[i]} + step_size_ * double{gradient[i]} +
                                   spread * normal[i % 4]);
    }
    info[static_cast<std::size_t>(r)].proposed =
        threshold(z[r], dim, tile.x[r], work.proposal.x[r]);
  }
}

void Rmala::step(const Target& target, Tile& tile, Workspace& work,
                 std::span<StepInfo> info) const {
  const int rows = tile.rows(), dim = tile.x.cols;
  Tile& y = work.proposal;
  const Rows<float> z = padded_rows(work, 0, rows, dim), gradient = padded_rows(work, 1, rows, dim);
  propose(tile, work, z, info);
  surrogate(target, options_.temperature, z, tile.step + 1, work, nullptr, gradient);
  work.evaluations.gradient += static_cast<std::uint64_t>(rows);
  evaluate_logp(target, tile, work);
  for (int r = 0; r < rows; ++r) {
    float* own = tile.sampler_cache[r];
    StepInfo& done = info[static_cast<std::size_t>(r)];
    const double log_ratio = y.logp[r] - tile.logp[r] +
                             log_ratio_of_moves(dim, step_size_, own, own + dim, z[r], gradient[r]);
    if (!metropolis(log_ratio, tile, r, work, done)) continue;
    std::copy_n(z[r], dim, own);
    std::copy_n(gradient[r], dim, own + dim);
    tile.logp[r] = y.logp[r];
    if (done.changed == 0) continue;
    std::copy_n(y.x[r], dim, tile.x[r]);
    tile.score_current = tile.target_cache_current = false;
  }
  ++tile.step;
}

SamplerEntry rmala_entry() {
  return {"rmala",
          "Langevin steps on a relaxation of two-level states, with the Metropolis test: exact",
          {"step_size", "adapt", "temperature"},
          [](const Target&, const Settings& s) -> std::unique_ptr<Sampler> {
            RmalaOptions options;
            options.step_size = number_setting(s, "step_size");
            options.adapt = switch_setting(s, "adapt");
            options.temperature = number_setting(s, "temperature").value_or(options.temperature);
            return std::make_unique<Rmala>(options);
          }};
}

}  // namespace saltus
