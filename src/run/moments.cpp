#include "saltus/run/moments.hpp"

#include <algorithm>
#include <cmath>

namespace saltus {

Moments::Moments(const Domain& domain, int chains, std::uint64_t draws, bool detail)
    : first_value_(domain.first_value()),
      spacing_(domain.spacing()),
      dim_(static_cast<std::size_t>(domain.dim())),
      planned_(draws),
      // Batches of length sqrt(n), as consistency asks for.
      batch_length_(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(draws))))),
      detail_(detail),
      chains_(static_cast<std::size_t>(chains)) {
  for (Chain& c : chains_) {
    c.total.resize(dim_);
    if (!detail) continue;
    for (auto* v : {&c.total_square, &c.batch, &c.batch_square_sum, &c.half, &c.half_square}) {
      v->resize(dim_);
    }
  }
}

void Moments::record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) {
  for (int r = 0; r < tile.rows(); ++r) {
    Chain& c = chains_[tile.first_slot + static_cast<std::size_t>(r)];
    const Symbol* x = tile.x[r];
    ++c.draws;
    if (!detail_) {
      for (std::size_t i = 0; i < dim_; ++i) c.total[i] += x[i];
      continue;
    }
    for (std::size_t i = 0; i < dim_; ++i) {
      const double k = x[i];
      c.batch[i] += k;
      c.total_square[i] += k * k;
    }
    if (++c.batch_draws == batch_length_) end_batch(c);
    if (c.draws == planned_ / 2) {
      for (std::size_t i = 0; i < dim_; ++i) c.half[i] = c.total[i] + c.batch[i];
      c.half_square = c.total_square;
    }
  }
}

void Moments::end_batch(Chain& c) {
  for (std::size_t i = 0; i < dim_; ++i) {
    c.total[i] += c.batch[i];
    c.batch_square_sum[i] += c.batch[i] * c.batch[i];
    c.batch[i] = 0;
  }
  c.batch_draws = 0;
  ++c.batches;
}

std::vector<double> Moments::mean() const {
  std::vector<double> mean(dim_);
  const double n = static_cast<double>(draws()) * static_cast<double>(chains_.size());
  for (std::size_t i = 0; i < dim_; ++i) {
    double sum = 0;
    for (const Chain& c : chains_) sum += c.total[i] + (detail_ ? c.batch[i] : 0);
    mean[i] = first_value_ + spacing_ * sum / n;
  }
  return mean;
}

std::vector<double> Moments::variance() const {
  std::vector<double> variance(dim_);
  const double n = static_cast<double>(draws()) * static_cast<double>(chains_.size());
  for (std::size_t i = 0; i < dim_; ++i) {
    double sum = 0, square = 0;
    for (const Chain& c : chains_) {
      sum += c.total[i] + c.batch[i];
      square += c.total_square[i];
    }
    variance[i] = spacing_ * spacing_ * (square - sum * sum / n) / (n - 1);
  }
  return variance;
}

// ESS = variance / (Monte Carlo variance of the mean). The latter comes from the batch means around
// their own chain's mean, b var(batch means) / n; where R-hat says that the chains disagree, from
// the chain means, if that is larger.
std::vector<double> Moments::ess() const {
  std::vector<double> ess = variance();
  const std::vector<double> rhat = split_rhat();
  const auto b = static_cast<double>(batch_length_), chains = static_cast<double>(chains_.size());
  const auto batches = static_cast<double>(chains_[0].batches);  // of each chain
  const double scale = spacing_ * spacing_;
  for (std::size_t i = 0; i < dim_; ++i) {
    double within = 0, sum = 0, square = 0;
    for (const Chain& c : chains_) {
      const double mean = c.total[i] / (b * batches);
      within += c.batch_square_sum[i] / (b * b) - batches * mean * mean;
      sum += mean;
      square += mean * mean;
    }
    within *= scale / (chains * (batches - 1));
    double of_mean = within / (batches * chains);
    if (rhat[i] > 1.01 && chains > 1) {
      of_mean = std::max(of_mean, scale * (square - sum * sum / chains) / (chains - 1) / chains);
    }
    ess[i] = of_mean > 0 && batches > 1 ? ess[i] / of_mean : NAN;
  }
  return ess;
}

// Gelman & Rubin's R-hat over the halves of all chains.
std::vector<double> Moments::split_rhat() const {
  std::vector<double> rhat(dim_, NAN);
  const std::uint64_t first_half = planned_ / 2;
  const auto half = static_cast<double>(first_half);
  const double rest = static_cast<double>(draws()) - half;
  const auto halves = static_cast<double>(2 * chains_.size());
  if (half < 2 || rest < 2) return rhat;
  for (std::size_t i = 0; i < dim_; ++i) {
    double within = 0, sum = 0, square = 0;
    for (const Chain& c : chains_) {
      const double totals[2] = {c.half[i], c.total[i] + c.batch[i] - c.half[i]};
      const double squares[2] = {c.half_square[i], c.total_square[i] - c.half_square[i]};
      const double counts[2] = {half, rest};
      for (int h = 0; h < 2; ++h) {
        const double mean = totals[h] / counts[h];
        within += (squares[h] - counts[h] * mean * mean) / (counts[h] - 1) / halves;
        sum += mean;
        square += mean * mean;
      }
    }
    const double between = (square - sum * sum / halves) / (halves - 1);
    if (within > 0) rhat[i] = std::sqrt((half - 1) / half + between / within);
  }
  return rhat;
}

void Moments::merge(const Recorder& other) {
  const auto* from = dynamic_cast<const Moments*>(&other);
  const bool same = from && from->dim_ == dim_ && from->draws() == draws() &&
                    from->detail_ == detail_ && from->planned_ == planned_;
  if (!same) return Recorder::merge(other);
  chains_.insert(chains_.end(), from->chains_.begin(), from->chains_.end());
}

void Moments::save(ByteWriter& out) const {
  out.begin_units();
  for (const Chain& c : chains_) {
    out.put(c.draws, c.batch_draws, c.batches);
    for (auto* v :
         {&c.total, &c.total_square, &c.batch, &c.batch_square_sum, &c.half, &c.half_square}) {
      out.put_array(std::span<const double>(*v));
    }
    out.end_unit();
  }
  out.end_units();
}

void Moments::restore(ByteReader& in) {
  ByteReader chains = in.units(chains_.size());
  for (Chain& c : chains_) {
    chains.get(c.draws, c.batch_draws, c.batches);
    for (auto* v :
         {&c.total, &c.total_square, &c.batch, &c.batch_square_sum, &c.half, &c.half_square}) {
      chains.get_array(std::span<double>(*v));
    }
  }
}

}  // namespace saltus
