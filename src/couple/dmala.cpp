// DMALA: the proposals of two chains are coupled coordinate by coordinate, by value (coupled by
// "flip", coordinates that differ would stay different), and one random number accepts both.
#include <algorithm>
#include <cmath>

#include "couple/kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/proposal.hpp"

namespace saltus {
namespace {

class CoupledDmala final : public CoupledKernel {
 public:
  CoupledDmala(const Target& target, const Dlp& sampler) : target_(target), sampler_(sampler) {
    const Domain& domain = target.domain();
    for (int i = 0; i < domain.dim(); ++i) levels_ += static_cast<std::size_t>(domain.levels(i));
  }

  void step(Tile& tile, const CoupledStep& at, Workspace& work) const override;

 private:
  // log q_i(k | x) of every level of every coordinate.
  std::span<const double> log_law(const Symbol* x, const float* score, std::size_t slot,
                                  Workspace& work) const;
  // log q(to | .), given that law.
  double log_q(std::span<const double> law, const Symbol* to) const;
  void propose(std::span<const double> law, std::span<const double> other, const CoupledStep& at,
               Tile& tile, Workspace& work) const;

  const Target& target_;
  const Dlp& sampler_;
  std::size_t levels_ = 0;  // of all coordinates
};

std::span<const double> CoupledDmala::log_law(const Symbol* x, const float* score, std::size_t slot,
                                              Workspace& work) const {
  const auto size = static_cast<std::size_t>(target_.domain().score_size());
  double* exact = work.sampler_scratch.get<double>(0, size);
  std::copy_n(score, size, exact);
  const std::span out(work.sampler_scratch.get<double>(slot, levels_), levels_);
  sampler_.log_probabilities(target_.domain(), x, exact, out);
  return out;
}

double CoupledDmala::log_q(std::span<const double> law, const Symbol* to) const {
  const Domain& domain = target_.domain();
  double sum = 0;
  for (int i = 0; i < domain.dim(); ++i) {
    sum += law[to[i]];
    law = law.subspan(static_cast<std::size_t>(domain.levels(i)));
  }
  return sum;
}

void CoupledDmala::propose(std::span<const double> law, std::span<const double> other,
                           const CoupledStep& at, Tile& tile, Workspace& work) const {
  const Domain& domain = target_.domain();
  const auto most = static_cast<std::size_t>(domain.max_levels());
  double *p = work.sampler_scratch.get<double>(3, 2 * most), *q = p + most;
  const Stream stream = at.stream(Purpose::couple);
  for (int i = 0; i < domain.dim(); ++i) {
    const auto levels = static_cast<std::size_t>(domain.levels(i));
    for (std::size_t k = 0; k < levels; ++k) p[k] = std::exp(law[k]), q[k] = std::exp(other[k]);
    const CoupledDraw drawn =
        couple_draws({p, levels}, {q, levels}, stream, 3 * static_cast<std::uint32_t>(i));
    work.proposal.x[0][i] = static_cast<Symbol>(drawn.x);
    if (tile.rows() == 2) work.proposal.x[1][i] = static_cast<Symbol>(drawn.y);
    law = law.subspan(levels);
    other = other.subspan(levels);
  }
}

void CoupledDmala::step(Tile& tile, const CoupledStep& at, Workspace& work) const {
  const int rows = tile.rows();
  const Tile& y = work.proposal;
  const std::span<const double> law = log_law(tile.x[0], tile.score[0], 1, work);
  const std::span<const double> other =
      rows == 2 ? log_law(tile.x[1], tile.score[1], 2, work) : law;
  propose(law, other, at, tile, work);
  target_.evaluate(work.at(0), first_rows(y.x, rows), y.logp, first_rows(y.score, rows));
  const double u = at.stream(Purpose::accept).uniform();
  for (int r = 0; r < rows; ++r) {
    const double forward = log_q(r == 0 ? law : other, y.x[r]);
    const double backward = log_q(log_law(y.x[r], y.score[r], 4, work), tile.x[r]);
    StepInfo info;
    if (metropolis(y.logp[r] - tile.logp[r] + backward - forward, u, info))
      keep_proposal(tile, y, r);
  }
}

}  // namespace

std::unique_ptr<CoupledKernel> couple_dmala(const Target& target, const Dlp& sampler) {
  if (!sampler.exact()) {
    throw UsageError(
        "dula leaves a law of its own invariant, and meetings say nothing about the model; dmala "
        "can be coupled");
  }
  if (sampler.options().cycle) {
    throw UsageError("a cycle's steps are not alike; coupled chains need a step_size");
  }
  return std::make_unique<CoupledDmala>(target, sampler);
}

}  // namespace saltus
