// Steps on rows of the caller's, who evaluates log p in between, for the C interface.
#include <algorithm>
#include <cmath>
#include <vector>

#include "c/handles.hpp"
#include "ops/ops.hpp"

using namespace saltus;
using namespace saltus::c;

namespace {

// Rows in the layout of the passes, which read and write whole groups of coordinates.
struct Room {
  explicit Room(int dim) : x(1, dim), y(1, dim), score(1, dim) {}
  RowBuffer<Symbol> x, y;
  RowBuffer<float> score;
};

void load(const float* values, int dim, float middle, Symbol* levels) {
  for (int i = 0; i < dim; ++i) levels[i] = static_cast<Symbol>(values[i] > middle);
}

struct Law {
  Law(bool spin, double step_size)
      : lower(spin ? -1.0f : 0.0f),
        middle(spin ? 0.0f : 0.5f),
        penalty(static_cast<float>((spin ? 2 : 0.5) / step_size)),
        law{spin ? 1.0f : 0.5f, &penalty, true} {
    if (!(step_size > 0)) throw UsageError("step_size must be above 0");
  }
  Law(const Law&) = delete;
  Law& operator=(const Law&) = delete;
  float lower, middle, penalty;
  ops::TwoLevelLaw law;
};

void check_size(std::int32_t rows, std::int32_t dim) {
  if (rows < 1 || dim < 1) throw UsageError("there are no rows to step");
}

}  // namespace

extern "C" {

int saltus_langevin_propose(int32_t rows, int32_t dim, int spin, double step_size, uint64_t seed,
                            const float* x, const float* score, float* y, double* log_q) {
  return guarded([&] {
    check_size(rows, dim);
    need(x, "x"), need(score, "score"), need(y, "y"), need(log_q, "log_q");
    const Law law(spin != 0, step_size);
    const Room room(dim);
    for (int r = 0; r < rows; ++r) {
      const std::ptrdiff_t at = std::ptrdiff_t{r} * dim;
      load(x + at, dim, law.middle, room.x.view()[0]);
      std::copy_n(score + at, dim, room.score.view()[0]);
      const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::propose);
      const ops::Proposed made = ops::active().propose_two_level(
          law.law, dim, room.x.view()[0], room.score.view()[0], room.y.view()[0], stream, true);
      log_q[r] = made.finite ? made.log_q : NAN;
      for (int i = 0; i < dim; ++i) y[at + i] = room.y.view()[0][i] ? 1.0f : law.lower;
    }
    return SALTUS_OK;
  });
}

int saltus_langevin_choose(int32_t rows, int32_t dim, int spin, double step_size, uint64_t seed,
                           const float* x, const float* y, const float* score, const float* score_y,
                           const double* log_q, const double* logp, double* logp_y, float* new_x,
                           float* new_score, double* chances, double* changes) {
  return guarded([&] {
    check_size(rows, dim);
    const Law law(spin != 0, step_size);
    const Room room(dim);
    for (int r = 0; r < rows; ++r) {
      const std::ptrdiff_t at = std::ptrdiff_t{r} * dim;
      Symbol *const from = room.x.view()[0], *const to = room.y.view()[0];
      load(x + at, dim, law.middle, from);
      load(y + at, dim, law.middle, to);
      std::copy_n(score_y + at, dim, room.score.view()[0]);
      const double back =
          ops::active().log_q_two_level(law.law, dim, to, room.score.view()[0], from);
      const double ratio = logp_y[r] - logp[r] + back - log_q[r];
      const double chance = std::isnan(ratio) ? 0 : std::exp(std::min(0.0, ratio));
      const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::accept);
      const bool taken = stream.uniform() < chance;
      chances[r] += chance;
      if (taken) {
        int differ = 0;
        for (int i = 0; i < dim; ++i) differ += from[i] != to[i];
        changes[r] += differ;
      } else {
        logp_y[r] = logp[r];
      }
      std::copy_n((taken ? y : x) + at, dim, new_x + at);
      std::copy_n((taken ? score_y : score) + at, dim, new_score + at);
    }
    return SALTUS_OK;
  });
}
}
